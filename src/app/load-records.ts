import {
  pendingSetDigest,
  pendingSetIn,
  type AttemptRecord,
  type PendingSet,
} from '../core/records/attempt-record.js';
import { unreadable } from '../core/records/codec.js';
import type { Winner } from '../core/records/plan.js';
import type { JobToken, TaskAttempt, TaskName } from '../core/ids.js';
import { leaveOutUnreadable, type AppContext } from './context.js';
import type { JobFacts, ListedRecord } from './facts.js';
import { withoutContent } from './files-of.js';
import { factsOf } from './job-directory.js';
import { mapLimit } from './map-limit.js';
import type { Root } from './roots.js';

/** A record and where it lies, so that it can be removed by name once it is processed. */
export interface LoadedRecord {
  readonly key: string;
  readonly etag: string;
  readonly task: TaskName;
  readonly attemptNumber: number;
  readonly record: AttemptRecord;
}

/** Every record that is listed, without the bytes of inline files: who looks at all of them looks for uploads. */
export async function loadRecords(
  ctx: AppContext,
  facts: JobFacts,
  listing: Iterable<ListedRecord> | AsyncIterable<ListedRecord>,
): Promise<LoadedRecord[]> {
  const loaded = await mapLimit(listing, ctx.options.recordConcurrency, (listed) =>
    loadRecord(ctx, facts, listed),
  );
  return loaded
    .filter((record) => record !== undefined)
    .map((loaded) =>
      loaded.record.kind === 'pendingset' ? { ...loaded, record: withoutContent(loaded.record) } : loaded,
    );
}

/** `undefined` where it is gone by now, or, by force ({@link AppContext.leaveOut}), where it can't be read. */
export async function loadRecord(
  ctx: AppContext,
  facts: JobFacts,
  listed: ListedRecord,
): Promise<LoadedRecord | undefined> {
  const { key, task, attemptNumber } = listed;
  try {
    const stored = await facts.readRecord(task, attemptNumber);
    if (stored === undefined) return undefined;
    const { token, attempt } = stored.value;
    if (token !== facts.layout.token || attempt.task !== task || attempt.number !== attemptNumber)
      throw unreadable(key, `it says that it is of job ${token}, ${attempt.task}, number ${attempt.number}`);
    return { key, task, attemptNumber, etag: stored.etag, record: stored.value };
  } catch (error) {
    leaveOutUnreadable(ctx, error);
    return undefined;
  }
}

/**
 * Visits the pendingsets that a plan publishes, each as the plan saw it, of a job of any size: no more of it is held than
 * is read at once. By force ({@link AppContext.leaveOut}): those that can be read.
 *
 * @returns false where one is gone, though not by force; the others were visited.
 */
export async function eachWinner(
  ctx: AppContext,
  root: Root,
  token: JobToken,
  winners: readonly Winner[],
  visit: (set: PendingSet, winner: Winner) => Promise<void> | void,
): Promise<boolean> {
  const reader = new WinnerReader(root, token);
  let gone = 0;
  await mapLimit(winners, ctx.options.recordConcurrency, async (winner) => {
    const read = await reader.read(winner).then(
      (set) => ({ set }),
      (error: unknown) => {
        leaveOutUnreadable(ctx, error);
        return undefined;
      },
    );
    if (read === undefined) return;
    if (read.set === undefined) gone++;
    else await visit(read.set, winner);
  });
  return gone === 0;
}

/** A claim holds many winners, which are read in its order. */
const maxClaimsHeld = 4;

/** Reads winners' pendingsets from where the plan says that they are. */
export class WinnerReader {
  readonly #claims = new Map<string, Promise<ReadonlyMap<string, PendingSet> | undefined>>();

  constructor(
    private readonly root: Root,
    private readonly token: JobToken,
  ) {}

  /** `undefined` where its record is gone. */
  async read(winner: Winner): Promise<PendingSet | undefined> {
    const facts = factsOf(this.root, this.token, winner.jobAttempt);
    const set = await this.#read(facts, winner);
    if (set !== undefined && pendingSetDigest(set) !== winner.digest) {
      throw unreadable(placeOf(facts, winner), 'it is not the one that the plan lists');
    }
    return set;
  }

  async #read(facts: JobFacts, { attempt, claim }: Winner): Promise<PendingSet | undefined> {
    if (claim === undefined) {
      const stored = await facts.readRecord(attempt.task, attempt.number);
      return stored === undefined ? undefined : pendingSetIn(stored.value);
    }
    const sets = await this.#claim(facts, claim);
    if (sets === undefined) return undefined;
    const set = sets.get(nameOf(attempt));
    if (set === undefined) throw unreadable(facts.layout.claim(claim), `it has no ${attempt.id}`);
    return set;
  }

  #claim(facts: JobFacts, hash: string): Promise<ReadonlyMap<string, PendingSet> | undefined> {
    const key = facts.layout.claim(hash);
    const held = this.#claims.get(key);
    if (held !== undefined) return held;
    const [oldest] = this.#claims.keys();
    if (oldest !== undefined && this.#claims.size >= maxClaimsHeld) this.#claims.delete(oldest);
    const read = facts
      .readClaim(hash)
      .then((sets) =>
        sets === undefined ? undefined : new Map(sets.map((set) => [nameOf(set.attempt), set])),
      );
    this.#claims.set(key, read);
    return read;
  }
}

/** Where the record of a winner lies, for people. */
export function placeOf({ layout }: JobFacts, { attempt, claim }: Winner): string {
  return claim === undefined ? layout.record(attempt.task, attempt.number) : layout.claim(claim);
}

function nameOf({ task, number, id }: TaskAttempt): string {
  return `${task}/${number} ${id}`;
}

/** Some stores quote ETags in listings and not in GET, or the other way round. */
export function sameEtag(a: string | undefined, b: string): boolean {
  return a?.replaceAll('"', '') === b.replaceAll('"', '');
}
