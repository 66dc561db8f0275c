import { createHash } from 'node:crypto';
import { decodeDecision } from '../../src/core/records/decision.js';
import { decodeOutcome } from '../../src/core/records/outcome.js';
import { decodePlan, type Plan } from '../../src/core/records/plan.js';
import { JobLayout } from '../../src/core/staging-layout.js';
import type { JobToken } from '../../src/core/ids.js';
import { contentOf, type Driver } from './driver.js';
import { isStoreError } from '../../src/ports/object-store.js';
import { foreign, TakenAway } from './taken-away.js';
import { bucket, stagingKey, type World } from './world.js';

interface Published {
  readonly token: string;
  readonly task: string;
  readonly number: number;
  readonly name: string;
  readonly key: string;
}

export interface Facts {
  readonly jobAttempt: number;
  readonly decision: 'commit' | 'abort' | 'superseded' | undefined;
  readonly outcome: 'published' | 'done' | 'rollback' | 'rolled-back' | undefined;
  readonly plan: Plan | undefined;
}

const maxJobAttempts = 5;

/** As stores make it of a put, some in capitals. */
function md5Etag(body: string): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

const decoded = new WeakMap<Uint8Array, unknown>();

/** Bodies in the store never change: what is read after each request is decoded once. */
function decodedOnce<T>(body: Uint8Array, decode: (body: Uint8Array) => T): T {
  if (!decoded.has(body)) decoded.set(body, decode(body));
  return decoded.get(body) as T;
}

function isRecord(key: string): boolean {
  return key.startsWith(stagingKey) && /\/(tasks|opened|files|claims)\//.test(key);
}

/** Looks at the raw store, past everything that the engine says of itself. */
export class Checks {
  private readonly foreignObjects = new Map<string, string>();
  private readonly foreignUploads = new Set<string>();
  private readonly layouts = new Map<string, readonly JobLayout[]>();
  /** Tokens of jobs that gc was free to forget, and their published keys. */
  private readonly collected = new Map<string, { readonly files: string; readonly wasPublished: boolean }>();
  /** The user accepted a loss: `--force`, or a store without the conditions that would prevent it. */
  mayLoseOverwritten = false;
  /** To another job of the destination, or to a DELETE of the old one that is late. */
  mayLoseMarker = false;
  /** Completes put their object over what came since the plan: the store has no condition for them, or a dear one. */
  completesOver: 'never' | 'unless the mode is fail' | 'always' = 'never';
  private readonly takenAway = new TakenAway();
  /** Keys at which the scenario put an object of its own over the job's. */
  readonly lostToOthers = new Set<string>();
  /** Keys of foreign objects that the scenario gives away: overwritten, replaced, or the old marker. */
  readonly givenAway = new Set<string>();

  constructor(
    private readonly world: World,
    private readonly drivers: readonly Driver[],
  ) {
    world.onEffect = (kind) => {
      if (kind === 'complete' || kind === 'put') {
        this.noteCompleters();
        this.nothingBeforeDecision(kind);
      }
      if (kind === 'put') this.noMarkerBeforePublished();
      if (kind === 'delete' || kind === 'delete_many') this.nothingGoesBeforePublished();
    };
  }

  async addForeignObject(key: string, isGivenAway = false, content = `foreign ${key}`): Promise<void> {
    if (isGivenAway) this.givenAway.add(key);
    const put = (): Promise<unknown> => this.world.raw.put({ bucket, key }, Buffer.from(content), {});
    // A store that was told to fail a request like it may fail this one in its place.
    await put().catch((error: unknown) =>
      isStoreError(error) && error.isTransient ? put() : Promise.reject(error as Error),
    );
    this.noteForeign(key, content);
  }

  private noteForeign(key: string, content: string): void {
    this.foreignObjects.set(key, content);
    this.takenAway.addForeign(key);
  }

  /** Unless an object is there already. */
  async addForeignObjectIfFree(key: string): Promise<void> {
    const content = `foreign ${key}`;
    try {
      await this.world.raw.put({ bucket, key }, Buffer.from(content), { ifNoneMatch: '*' });
      this.noteForeign(key, content);
    } catch (error) {
      if (!isStoreError(error, 'precondition-failed')) throw error;
    }
  }

  async addForeignUpload(key: string): Promise<void> {
    const uploadId = await this.world.raw.initiate({ bucket, key }, {});
    await this.world.raw.uploadPart({ bucket, key, uploadId }, 1, Buffer.from('foreign'));
    this.foreignUploads.add(uploadId);
  }

  /** G1, at every instant: an object of a job is there only after a commit decision of the job. */
  private nothingBeforeDecision(kind: string): void {
    for (const { token, key } of this.published()) {
      if (this.collected.has(token)) continue;
      const facts = this.factsOfSync(token);
      const decided = facts.some(({ decision }) => decision === 'commit');
      if (!decided)
        this.violate(`G1: ${key} of ${token} is visible before any commit decision, after a ${kind}`);
      else if (!facts.some(({ decision, outcome }) => decision === 'commit' && outcome !== 'rolled-back'))
        this.violate(`G1: ${key} of ${token} is visible though the job was rolled back, after a ${kind}`);
    }
  }

  private noteCompleters(): void {
    if (this.completesOver === 'never') return;
    for (const { token, key } of this.published()) {
      // Of two requests that have their effects together, the first one told may be the other: the object says it.
      const isComplete = /-[0-9]+"?$/.test(this.world.raw.peek({ bucket, key })?.etag ?? '');
      const isAllowed =
        this.completesOver === 'always' ||
        !this.drivers.some(
          ({ options }) => options.token === token && options.options?.conflictMode === 'fail',
        );
      if (isComplete && isAllowed) this.takenAway.note(key, token);
    }
  }

  /**
   * A Complete put its object over one that was there, as stores without a condition for it let it: that one stands
   * there, or its job was undone with all that it had put there.
   */
  wasCompletedOver(key: string, loser?: string): boolean {
    const takers = this.takenAway.by(key, loser);
    if (takers.length === 0) return false;
    if (this.published().some((each) => each.key === key)) return true;
    return (
      this.world.raw.peek({ bucket, key }) === undefined &&
      takers.some((token) => this.livePlans(token).length === 0)
    );
  }

  /** Never a moment with neither old nor new: what a job replaces goes once all of the new is there. */
  private nothingGoesBeforePublished(): void {
    if (this.givenAway.size === 0) return;
    const isPublished = this.tokens().some((token) => this.isPublished(token));
    if (isPublished) return;
    for (const key of this.givenAway) {
      if (this.world.raw.peek({ bucket, key }) === undefined && !key.endsWith('/_SUCCESS'))
        this.violate(`${key} went before the job was published`);
    }
  }

  /** A success marker says that all files of its job are there. */
  private noMarkerBeforePublished(): void {
    for (const { destination, options } of this.drivers) {
      const token = this.markerAt(destination);
      if (token !== undefined && token === options.token && !this.isPublished(token))
        this.violate(`the success marker of ${token} is there before the job is published`);
    }
  }

  private isPublished(token: string): boolean {
    const remembered = this.collected.get(token);
    if (remembered !== undefined) return remembered.wasPublished;
    return this.factsOfSync(token).some(({ outcome }) => outcome === 'published' || outcome === 'done');
  }

  /** Of which job the success marker there is. */
  markerAt(destination: string): string | undefined {
    const marker = this.world.raw.peek({ bucket, key: `${destination}/_SUCCESS` });
    if (marker === undefined || marker.body.byteLength === 0) return undefined;
    const text = Buffer.from(marker.body).toString();
    return text.startsWith('{') ? (JSON.parse(text) as { jobId: string }).jobId : undefined;
  }

  /** Of decisions that were not rolled back. */
  private livePlans(token: string): Plan[] {
    return this.factsOfSync(token).flatMap(({ decision, outcome, plan }) =>
      decision === 'commit' && outcome !== 'rolled-back' && plan !== undefined ? [plan] : [],
    );
  }

  private destinations(): string[] {
    return [...new Set(this.drivers.map(({ destination }) => destination))];
  }

  private tokens(): string[] {
    return [...new Set(this.drivers.map(({ options }) => options.token))];
  }

  /** Once a job attempt is set up, nothing of a lower one is half undone. */
  noUnfinishedRollback(token: string): void {
    for (const { jobAttempt, outcome } of this.factsOfSync(token))
      if (outcome === 'rollback')
        this.violate(`G3: job attempt ${jobAttempt} of ${token} is left half rolled back`);
  }

  /** The token is a new job's. */
  forget(token: string): void {
    this.collected.delete(token);
  }

  /**
   * What gc will make of the jobs that have ended: it forgets them. From here on nothing of them may change, and
   * their facts may be gone.
   */
  rememberEnded(): void {
    const published = this.published();
    for (const token of this.tokens()) {
      const files = published
        .filter((file) => file.token === token)
        .map(({ key }) => key)
        .sort()
        .join();
      this.collected.set(token, { files, wasPublished: this.isPublished(token) });
    }
  }

  /** Before any gc, where nothing failed: an ended job leaves no upload and no record. */
  tidy(leavesRecords: boolean): void {
    for (const { key, state } of this.uploads())
      this.violate(`G1: the upload of ${key} (${state}) is left to gc though nothing failed`);
    if (leavesRecords) return;
    for (const [key] of this.world.raw.entries(bucket)) {
      if (isRecord(key)) this.violate(`the record ${key} is left to gc though nothing failed`);
    }
  }

  /** G1 to G4, when everybody who could recover has done so. */
  final(): void {
    const published = this.published();
    for (const token of this.tokens()) {
      this.checkJob(
        token,
        published.filter((file) => file.token === token),
      );
    }
    for (const { token, key } of published) {
      if (!this.drivers.some(({ options }) => options.token === token))
        this.violate(`an unknown job published ${key}`);
    }
    this.checkMarkers();
    this.checkForeign();
    this.checkLeftovers();
  }

  /** After `done` the marker is there; after anything else there is none of that job. */
  private checkMarkers(): void {
    for (const destination of this.destinations()) {
      const drivers = this.drivers.filter((driver) => driver.destination === destination);
      const marked = this.markerAt(destination);
      const isDone = (token: string): boolean => this.isPublished(token);
      if (marked !== undefined && !this.tokens().some((token) => token === marked && isDone(token)))
        this.violate(`the success marker in ${destination} is of ${marked}, which was not published`);
      // Another job's setupJob takes the marker away, and only its commitJob brings one.
      const areAllDone = drivers.every(
        ({ options }) => options.options?.successMarker !== false && isDone(options.token),
      );
      const isShared = new Set(drivers.map(({ options }) => options.token)).size > 1;
      const mayBeLost = this.mayLoseMarker && (isShared || this.hadLateDelete());
      if (areAllDone && marked === undefined && !mayBeLost)
        this.violate(`there is no success marker in ${destination}, though its jobs are done`);
    }
  }

  /** One that its daemon looked for and sent, and that came after the job's own marker was put. */
  private hadLateDelete(): boolean {
    return this.world.injector.triggered.some((fault) => fault.includes('(delete)'));
  }

  private checkJob(token: string, published: readonly Published[]): void {
    const facts = this.factsOfSync(token);
    const remembered = this.collected.get(token);
    if (remembered !== undefined) {
      const now = published
        .map(({ key }) => key)
        .sort()
        .join();
      if (now !== remembered.files)
        this.violate(`after gc ${token} has ${now || 'nothing'}, before ${remembered.files || 'nothing'}`);
      return;
    }
    const committed = facts.filter(({ decision }) => decision === 'commit');
    if (committed.length > 1 && committed.filter(({ outcome }) => outcome !== 'rolled-back').length > 1) {
      this.violate(
        `G2: ${token} was committed by job attempts ${committed.map((each) => each.jobAttempt).join(', ')}`,
      );
    }
    const live = committed.find(({ outcome }) => outcome !== 'rolled-back');
    const drivers = this.drivers.filter(({ options }) => options.token === token);
    if (live === undefined) {
      for (const { key } of published)
        this.violate(`G1/G3: ${key} of ${token} is visible though the job was not committed`);
      if (
        drivers.some(({ told }) => told === 'committed') &&
        facts.some(({ decision }) => decision !== undefined)
      ) {
        this.violate(`G3: ${token}'s driver was told that it is committed, and it is not`);
      }
      return;
    }
    if (live.outcome !== 'done')
      this.violate(`G3: ${token} is left in decision commit, outcome ${live.outcome ?? 'none'}`);
    // A later job attempt may publish what it made itself after an earlier one was aborted.
    const wrong = drivers.find(({ told, ref }) => told === 'aborted' && ref.jobAttempt >= live.jobAttempt);
    if (wrong !== undefined)
      this.violate(`G3: ${token}'s driver was told that it is aborted, and it is committed`);
    if (live.plan === undefined) return;
    this.checkPublished(token, live.plan, published);
    this.checkCounted(drivers, live.plan);
  }

  /** All of the plan's files, each of one attempt of its task, and no others. */
  private checkPublished(token: string, plan: Plan, published: readonly Published[]): void {
    const expected = new Set<string>();
    const tasks = new Set<string>();
    for (const { attempt } of plan.winners) {
      if (tasks.has(attempt.task))
        this.violate(`G2: two attempts of ${attempt.task} are in the plan of ${token}`);
      tasks.add(attempt.task);
      for (const name of this.world.attempts.get(attempt.id)?.names ?? []) {
        expected.add(`${attempt.task} ${attempt.number} ${name}`);
      }
    }
    const found = new Set(published.map(({ task, number, name }) => `${task} ${number} ${name}`));
    for (const file of expected)
      if (!found.has(file) && !this.isLostToOthers(token, file))
        this.violate(`G3: ${file} of ${token} is missing`);
    for (const file of found)
      if (!expected.has(file)) this.violate(`G2: ${file} of ${token} is published and not in the plan`);
  }

  /** A key that another job wrote as well: the last Complete has it. */
  private isLostToOthers(token: string, file: string): boolean {
    const name = file.split(' ').slice(2).join(' ');
    const key = `/${name}`;
    if ([...this.lostToOthers].some((lost) => lost.endsWith(key))) return true;
    if (this.destinations().some((destination) => this.wasCompletedOver(destination + key, token)))
      return true;
    // A job that replaces deletes what was there when it was decided, of other jobs as well.
    const isReplaced = this.tokens().some(
      (other) =>
        other !== token &&
        this.livePlans(other).some(({ deletions }) =>
          deletions.some((deletion) => deletion.key.endsWith(key)),
        ),
    );
    return isReplaced || this.published().some((other) => other.name === name && other.token !== token);
  }

  /** An attempt that the driver counts, the last of its task that it was told OK of, is what is published. */
  private checkCounted(drivers: readonly Driver[], plan: Plan): void {
    const driver = drivers.filter(({ told }) => told === 'committed').at(-1);
    if (driver === undefined) return;
    const counted = new Map(driver.committedAttempts.map((attempt) => [attempt.task, attempt]));
    for (const [task, attempt] of counted) {
      const { attemptId } = attempt.ref;
      if (driver.givenUp.has(attemptId) || driver.toldTooLate.has(attemptId)) continue;
      const winner = plan.winners.find((each) => each.attempt.task === task);
      if (winner === undefined)
        this.violate(
          `G2: the driver counts ${attempt.ref.attemptId}, and no attempt of its task is published`,
        );
    }
    // Where nothing failed, every commit that was made was answered.
    if (this.world.injector.triggered.length > 0) return;
    const answered = new Set(
      drivers.flatMap(({ committedAttempts }) => committedAttempts.map(({ ref }) => ref.attemptId)),
    );
    for (const { attempt } of plan.winners) {
      if (!answered.has(attempt.id))
        this.violate(`G2: ${attempt.id} is published, and its commitTask was never answered with OK`);
    }
  }

  private checkForeign(): void {
    // Nothing is given away by a job that was not published.
    const isAnyPublished = this.tokens().some((token) => this.isPublished(token));
    for (const [key, body] of this.foreignObjects) {
      // What was there when the job was decided is replaced by it.
      const isPlanned = this.tokens().some((token) =>
        this.livePlans(token).some(
          ({ overwrites, deletions }) =>
            overwrites.includes(`s3a://${bucket}/${key}`) ||
            deletions.some(
              (deletion) => deletion.key === key && deletion.etag.toLowerCase() === md5Etag(body),
            ),
        ),
      );
      if (isPlanned || this.wasCompletedOver(key, foreign)) continue;
      const mayGo =
        this.givenAway.has(key) && (isAnyPublished || this.mayLoseOverwritten || key.endsWith('/_SUCCESS'));
      if (mayGo) continue;
      const found = this.world.raw.peek({ bucket, key });
      if (found === undefined || Buffer.from(found.body).toString() !== body)
        this.violate(`G4: the foreign object ${key} was touched`);
    }
    const open = new Set(this.world.raw.uploads(bucket).map(({ uploadId }) => uploadId));
    for (const uploadId of this.foreignUploads) {
      if (!open.has(uploadId)) this.violate(`G4: a foreign upload was ended`);
    }
  }

  /** What nobody needs any more is gone, after gc. */
  private checkLeftovers(): void {
    for (const { key, uploadId } of this.openUploads()) {
      if (!this.world.mayBeOrphan(uploadId)) this.violate(`G1: the upload of ${key} is left open`);
    }
    for (const [key] of this.world.raw.entries(bucket)) {
      if (isRecord(key)) this.violate(`the record ${key} is left`);
    }
  }

  /** After `gc --prefix` over all: orphans and parts that landed late are gone too. */
  nothingOpen(): void {
    for (const { key } of this.world.raw.uploads(bucket))
      this.violate(`G1: gc --prefix left the upload of ${key}`);
  }

  /** Uploads that are open and not foreign. */
  openUploads(): { key: string; uploadId: string }[] {
    return this.uploads().filter(({ state }) => state === 'open');
  }

  /** With those that were aborted before a part landed. */
  uploads(): { key: string; uploadId: string; state: 'open' | 'aborted' }[] {
    return this.world.raw.uploads(bucket).filter(({ uploadId }) => !this.foreignUploads.has(uploadId));
  }

  published(): Published[] {
    const found: Published[] = [];
    for (const [key, { metadata, body }] of this.world.raw.entries(bucket)) {
      if (metadata['commitbridge-id'] === undefined) continue;
      const content = Buffer.from(body).toString();
      const [token = '', task = '', number = '', ...name] = content.split(' ');
      found.push({ token, task, number: Number(number), name: name.join(' '), key });
      const expected = contentOf(token, task, Number(number), name.join(' '));
      if (content !== expected) this.violate(`${key} has been damaged`);
    }
    return found;
  }

  factsOfSync(token: string): Facts[] {
    const read = <T>(key: string, decode: (body: Uint8Array, key: string) => T): T | undefined => {
      const body = this.world.raw.peek({ bucket, key })?.body;
      return body === undefined ? undefined : decodedOnce(body, (bytes) => decode(bytes, key));
    };
    const facts: Facts[] = [];
    for (const [jobAttempt, layout] of this.layoutsOf(token).entries()) {
      const decision = read(layout.decision, decodeDecision);
      const outcome = read(layout.outcome, decodeOutcome);
      const hash = decision?.decision === 'commit' ? decision.plan : undefined;
      const plan =
        hash === undefined ? undefined : read(layout.plan(hash), (body) => decodePlan(body, hash, 'plan'));
      facts.push({ jobAttempt, decision: decision?.decision, outcome: outcome?.outcome, plan });
    }
    return facts;
  }

  /** Whether anything of the job was written at or after that moment, a ledger segment for example. */
  hasChangedSince(token: string, ms: number): boolean {
    for (const [key, { lastModifiedMs }] of this.world.raw.entries(bucket))
      if (key.startsWith(`${stagingKey}/${token}/`) && lastModifiedMs >= ms) return true;
    return false;
  }

  private layoutsOf(token: string): readonly JobLayout[] {
    const known = this.layouts.get(token);
    if (known !== undefined) return known;
    const numbers = Array.from({ length: maxJobAttempts }, (_, jobAttempt) => jobAttempt);
    const layouts = numbers.map((number) => new JobLayout(stagingKey, token as JobToken, number));
    this.layouts.set(token, layouts);
    return layouts;
  }

  violate(what: string): void {
    this.world.violations.push(what);
  }
}
