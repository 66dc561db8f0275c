import type { JobRecord } from '../core/records/job-record.js';
import { decodeJobRecord, encodeJobRecord } from '../core/records/job-record.js';
import {
  decodeAttemptRecord,
  encodeAttemptRecord,
  type AttemptRecord,
  type PendingSet,
  type UploadIdentity,
} from '../core/records/attempt-record.js';
import { decodeClaim, encodeClaim } from '../core/records/claim.js';
import { decodeClosedFile, encodeClosedFile, type ClosedFileRecord } from '../core/records/closed-file.js';
import { decodeDecision, encodeDecision, type Decision } from '../core/records/decision.js';
import { decodeLedgerSegment, encodeLedgerSegment } from '../core/records/ledger-segment.js';
import { decodeOutcome, encodeOutcome, type Outcome } from '../core/records/outcome.js';
import { decodePlan, encodePlan, type Plan } from '../core/records/plan.js';
import { unreadable } from '../core/records/codec.js';
import type { TaskName } from '../core/ids.js';
import type { JobLayout } from '../core/staging-layout.js';
import {
  asOneShotFact,
  isStoreError,
  type CallOptions,
  type ListedObject,
  type ObjectStore,
} from '../ports/object-store.js';
import { signLookSend, signPut } from './fence.js';
import { listAll } from './list-all.js';

/** A fact with the ETag that a conditional overwrite needs. */
export interface Stored<T> {
  readonly value: T;
  readonly etag: string;
}

/** `created`: this call's content is the fact, now or from an earlier try of it. `exists`: another's is. */
export interface Creation<T> extends Stored<T> {
  readonly status: 'created' | 'exists';
}

export interface ListedRecord {
  readonly key: string;
  readonly etag: string;
  readonly task: TaskName;
  readonly attemptNumber: number;
}

/** A key that is there at every PUT and gone at every GET is a store that does not keep the port's contract. */
const maxTries = 10;

/** The state of one job attempt in the store. It settles what a lost reply leaves open and decides nothing. */
export class JobFacts {
  constructor(
    private readonly store: ObjectStore,
    readonly bucket: string,
    readonly layout: JobLayout,
  ) {}

  async readJob(): Promise<JobRecord | undefined> {
    return (await this.#read(this.layout.job, decodeJobRecord))?.value;
  }

  createJob(record: JobRecord): Promise<Creation<JobRecord>> {
    return this.#createOnce(this.layout.job, record, encodeJobRecord, decodeJobRecord);
  }

  async readDecision(): Promise<Decision | undefined> {
    return (await this.#read(this.layout.decision, decodeDecision))?.value;
  }

  createDecision(decision: Decision): Promise<Creation<Decision>> {
    return this.#createOnce(this.layout.decision, decision, encodeDecision, decodeDecision);
  }

  readOutcome(): Promise<Stored<Outcome> | undefined> {
    return this.#read(this.layout.outcome, decodeOutcome);
  }

  createOutcome(outcome: Outcome): Promise<Creation<Outcome>> {
    return this.#createOnce(this.layout.outcome, outcome, encodeOutcome, decodeOutcome);
  }

  /** False where the outcome is no longer the one of that ETag; the caller reads it again. */
  replaceOutcome(outcome: Outcome, etag: string, call: CallOptions = {}): Promise<boolean> {
    return this.#replace(this.layout.outcome, encodeOutcome(outcome), etag, call);
  }

  readRecord(task: TaskName, attemptNumber: number): Promise<Stored<AttemptRecord> | undefined> {
    return this.#read(this.layout.record(task, attemptNumber), decodeAttemptRecord);
  }

  createRecord(record: AttemptRecord): Promise<Creation<AttemptRecord>> {
    const { task, number } = record.attempt;
    return this.#createOnce(
      this.layout.record(task, number),
      record,
      encodeAttemptRecord,
      decodeAttemptRecord,
    );
  }

  replaceRecord(record: AttemptRecord, etag: string): Promise<boolean> {
    const { task, number } = record.attempt;
    return this.#replace(this.layout.record(task, number), encodeAttemptRecord(record), etag);
  }

  async *listRecords(): AsyncGenerator<ListedRecord> {
    for await (const { key, etag } of listAll(this.store, this.bucket, this.layout.records)) {
      const parsed = this.layout.parseRecordKey(key);
      if (parsed === undefined) throw unreadable(key, 'its name is not that of a task attempt');
      yield { key, etag, ...parsed };
    }
  }

  createClosedFile(record: ClosedFileRecord): Promise<Creation<ClosedFileRecord>> {
    const key = this.closedFileKey(record);
    return this.#createOnce(key, record, encodeClosedFile, decodeClosedFile);
  }

  closedFileKey({ attempt, file }: ClosedFileRecord): string {
    return this.layout.closedFile(attempt.task, attempt.number, file.commitbridgeId);
  }

  async readClosedFile(key: string): Promise<ClosedFileRecord | undefined> {
    return (await this.#read(key, decodeClosedFile))?.value;
  }

  /** Of one task attempt number. */
  listClosedFiles(task: TaskName, attemptNumber: number): AsyncGenerator<ListedObject> {
    return listAll(this.store, this.bucket, this.layout.closedFilesOf(task, attemptNumber));
  }

  /** Immutable and named by its hash, as a plan. `pendingsets` are encoded records. */
  async writeClaim(pendingsets: readonly Uint8Array[]): Promise<string> {
    const { token, jobAttempt } = this.layout;
    const { body, hash } = encodeClaim(token, jobAttempt, pendingsets);
    await this.store.put({ bucket: this.bucket, key: this.layout.claim(hash) }, body, {});
    return hash;
  }

  async readClaim(hash: string): Promise<readonly PendingSet[] | undefined> {
    const key = this.layout.claim(hash);
    const claim = (await this.#read(key, (body, where) => decodeClaim(body, hash, where)))?.value;
    const { token, jobAttempt } = this.layout;
    if (claim !== undefined && (claim.token !== token || claim.jobAttempt !== jobAttempt)) {
      throw unreadable(key, `it says that it is of job ${claim.token}, ${claim.jobAttempt}`);
    }
    return claim?.sets;
  }

  async hasClaims(): Promise<boolean> {
    for await (const _ of this.listClaims()) return true;
    return false;
  }

  listClaims(): AsyncGenerator<ListedObject> {
    return listAll(this.store, this.bucket, this.layout.claims);
  }

  /** Immutable and named by its hash: who writes it second writes the same. */
  async writePlan(plan: Plan): Promise<string> {
    const { body, hash } = encodePlan(plan);
    await this.store.put({ bucket: this.bucket, key: this.layout.plan(hash) }, body, {});
    return hash;
  }

  async readPlan(hash: string): Promise<Plan | undefined> {
    const read = await this.#read(this.layout.plan(hash), (body, where) => decodePlan(body, hash, where));
    return read?.value;
  }

  /** @returns its key. */
  async writeLedgerSegment(
    start: string,
    sequence: number,
    uploads: readonly UploadIdentity[],
  ): Promise<string> {
    const key = this.layout.ledgerSegment(start, sequence);
    await this.store.put({ bucket: this.bucket, key }, encodeLedgerSegment(uploads), {});
    return key;
  }

  async readLedgerSegment(key: string): Promise<readonly UploadIdentity[]> {
    return (await this.#read(key, decodeLedgerSegment))?.value ?? [];
  }

  async #read<T>(
    key: string,
    decode: (body: Uint8Array, where: string) => T,
  ): Promise<Stored<T> | undefined> {
    const found = await this.store.get({ bucket: this.bucket, key });
    return found === undefined ? undefined : { value: decode(found.body, key), etag: found.etag };
  }

  async #createOnce<T>(
    key: string,
    value: T,
    encode: (value: T) => Uint8Array,
    decode: (body: Uint8Array, where: string) => T,
  ): Promise<Creation<T>> {
    const body = encode(value);
    const object = { bucket: this.bucket, key };
    for (let tries = 1; ; tries++) {
      try {
        const { etag } = await this.store.put(object, body, asOneShotFact);
        return { status: 'created', value, etag };
      } catch (error) {
        if (!isStoreError(error, 'precondition-failed', 'conflict') || tries === maxTries) throw error;
      }
      // An earlier try whose reply was lost may be what is there: the same bytes are the same fact.
      const found = await this.store.get(object);
      // A 409 of a writer that failed in the end, or gc took it away meanwhile.
      if (found === undefined) continue;
      const same = Buffer.compare(found.body, body) === 0;
      return {
        status: same ? 'created' : 'exists',
        value: same ? value : decode(found.body, key),
        etag: found.etag,
      };
    }
  }

  async #replace(key: string, body: Uint8Array, etag: string, call: CallOptions = {}): Promise<boolean> {
    if (!this.store.capabilities.conditionalOverwrite) return this.#replaceAfterLook(key, body, etag);
    const object = { bucket: this.bucket, key };
    for (let tries = 1; ; tries++) {
      try {
        await this.store.put(object, body, { ifMatch: etag }, call);
        return true;
      } catch (error) {
        if (isStoreError(error, 'not-found')) return false;
        const isRefused = isStoreError(error, 'precondition-failed');
        if (!isRefused && (!isStoreError(error, 'conflict') || tries === maxTries)) throw error;
        const found = await this.store.get(object);
        if (found === undefined) return false;
        if (Buffer.compare(found.body, body) === 0) return true;
        // A 409 of a writer that failed in the end leaves what was there: nobody was faster.
        if (isRefused || found.etag !== etag) return false;
      }
    }
  }

  /**
   * What is overwritten was created once, and whoever overwrites it writes the same: a second writer between the look
   * and the put does no harm, and a late one is refused.
   */
  async #replaceAfterLook(key: string, body: Uint8Array, etag: string): Promise<boolean> {
    const object = { bucket: this.bucket, key };
    let isThere = false;
    const look = async (): Promise<boolean> => {
      const found = await this.store.get(object);
      isThere = found !== undefined && Buffer.compare(found.body, body) === 0;
      return !isThere && found?.etag === etag;
    };
    const sent = await signLookSend(
      () => signPut(this.store, object, {}),
      look,
      (send) => send(body),
    );
    return sent !== 'unwanted' || isThere;
  }
}
