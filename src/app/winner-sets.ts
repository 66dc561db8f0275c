import { UploadSet } from '../core/abort-rule.js';
import type { JobToken, TaskName } from '../core/ids.js';
import type { PendingSet } from '../core/records/attempt-record.js';
import { unreadable } from '../core/records/codec.js';
import type { Winner } from '../core/records/plan.js';
import type { AppContext } from './context.js';
import { outputsOf } from './files-of.js';
import { factsOf } from './job-directory.js';
import { eachWinner, placeOf, WinnerReader } from './load-records.js';
import type { InlineSource } from './publish-inline.js';
import type { Root } from './roots.js';

/** Files of sets that were read ahead of their publication. */
const maxFilesAhead = 10_000;

/** What they take in memory, without content. */
const bytesOfFile = 900;
const bytesOfSet = 500;

/**
 * The pendingsets that are published, of a job of any size: as many as {@link AppOptions.heldBytes} allows are held, the
 * others are read again where they are needed. Records are immutable while they are winners of a decision.
 */
export class WinnerSets {
  /** All that they publish by a Complete. */
  readonly uploads = new UploadSet();
  readonly #winners: Winner[] = [];
  #isSorted = true;
  readonly #held = new Map<TaskName, PendingSet>();
  #heldBytes = 0;
  /** Of the winners that have some. */
  readonly #inlineFiles = new Map<TaskName, number>();
  readonly #reader: WinnerReader;

  constructor(
    private readonly ctx: AppContext,
    private readonly root: Root,
    private readonly token: JobToken,
  ) {
    this.#reader = new WinnerReader(root, token);
  }

  /**
   * Those that a plan publishes, each as the plan saw it; `undefined` where one is gone. By force
   * ({@link AppContext.leaveOut}): those that can be read.
   */
  static async load(
    ctx: AppContext,
    root: Root,
    token: JobToken,
    winners: readonly Winner[],
  ): Promise<WinnerSets | undefined> {
    const sets = new WinnerSets(ctx, root, token);
    const isWhole = await eachWinner(ctx, root, token, winners, (set, winner) => {
      sets.take(winner, set);
    });
    return isWhole ? sets : undefined;
  }

  take(winner: Winner, set: PendingSet): void {
    this.#winners.push(winner);
    this.#isSorted = false;
    for (const file of set.files) this.uploads.add(file);
    const { task } = winner.attempt;
    if (set.inline.length > 0) this.#inlineFiles.set(task, set.inline.length);
    const bytes = set.inline.reduce(
      (sum, { content }) => sum + bytesOfFile + (content?.length ?? Infinity),
      bytesOfSet + set.files.length * bytesOfFile,
    );
    if (this.#heldBytes + bytes > this.ctx.options.heldBytes) return;
    this.#heldBytes += bytes;
    this.#held.set(task, set);
  }

  /** By task. */
  get winners(): readonly Winner[] {
    if (!this.#isSorted) this.#winners.sort((a, b) => (a.attempt.task < b.attempt.task ? -1 : 1));
    this.#isSorted = true;
    return this.#winners;
  }

  /** Those with uploads, in the order of {@link winners}. */
  withUploads(): Iterable<PendingSet> | AsyncIterable<PendingSet> {
    const winners = this.winners.filter(
      ({ files, attempt: { task } }) => files > (this.#inlineFiles.get(task) ?? 0),
    );
    const held = winners
      .map(({ attempt: { task } }) => this.#held.get(task))
      .filter((set) => set !== undefined);
    return held.length === winners.length ? held : this.#readAhead(winners);
  }

  inlineSources(): InlineSource[] {
    return this.winners.flatMap((winner) => {
      const files = this.#inlineFiles.get(winner.attempt.task);
      return files === undefined ? [] : [{ files, read: () => this.#read(winner) }];
    });
  }

  /** The first final keys of those that are held: no read delays who asks. */
  firstKeys(limit: number): string[] {
    const keys: string[] = [];
    for (const { attempt } of this.winners) {
      const held = this.#held.get(attempt.task);
      for (const { key } of outputsOf(held === undefined ? [] : [held])) {
        if (keys.length === limit) return keys;
        keys.push(key);
      }
    }
    return keys;
  }

  async *#readAhead(winners: readonly Winner[]): AsyncGenerator<PendingSet> {
    const ahead: Promise<PendingSet>[] = [];
    let next = 0;
    let filesAhead = 0;
    try {
      for (const { files } of winners) {
        const isRoomLeft = (): boolean =>
          ahead.length < this.ctx.options.recordConcurrency && filesAhead < maxFilesAhead;
        for (let winner = winners[next]; winner !== undefined && isRoomLeft(); winner = winners[++next]) {
          const read = this.#read(winner);
          // It is waited for in its turn.
          read.catch(() => undefined);
          ahead.push(read);
          filesAhead += winner.files;
        }
        const first = await ahead.shift();
        filesAhead -= files;
        if (first !== undefined) yield first;
      }
    } finally {
      // Nothing goes on behind the caller's back.
      await Promise.allSettled(ahead);
    }
  }

  /** @throws CommitterError RECORD_UNREADABLE where it is gone: no record goes before the job's end. */
  async #read(winner: Winner): Promise<PendingSet> {
    const set = this.#held.get(winner.attempt.task) ?? (await this.#reader.read(winner));
    if (set !== undefined) return set;
    throw unreadable(placeOf(factsOf(this.root, this.token, winner.jobAttempt), winner), 'it is gone');
  }
}
