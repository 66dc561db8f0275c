import type { CommitterError } from '../core/errors.js';
import type { JobToken } from '../core/ids.js';
import { unreadable } from '../core/records/codec.js';
import { JobLayout, parseJobAttempts, tokenPrefix } from '../core/staging-layout.js';
import type { ListedRecord } from './facts.js';
import { listAll } from './list-all.js';
import type { Root } from './roots.js';

/** What a job attempt has under its prefix besides its facts. */
export interface StagedState {
  readonly jobAttempt: number;
  readonly records: readonly ListedRecord[];
  /** Keys. */
  readonly ledgerSegments: readonly string[];
  /** Keys. */
  readonly closedFiles: readonly string[];
  /** Keys. */
  readonly claims: readonly string[];
}

/** An object of a job besides its facts. */
export type StagedObject =
  | ({ readonly kind: 'record'; readonly jobAttempt: number } & ListedRecord)
  | {
      readonly kind: 'ledgerSegment' | 'closedFile' | 'claim';
      readonly jobAttempt: number;
      readonly key: string;
    };

/**
 * Of every job attempt of a token, as one listing has them. `onBadName` is told of objects among the records that are none,
 * which are left out; without it the first is an error.
 */
export async function* stagedObjects(
  root: Root,
  token: JobToken,
  onBadName?: (error: CommitterError) => void,
): AsyncGenerator<StagedObject> {
  const { store, staging } = root;
  const prefix = tokenPrefix(staging.key, token);
  let layout: JobLayout | undefined;
  for await (const { key, etag } of listAll(store, staging.bucket, prefix)) {
    const [directory = ''] = key.slice(prefix.length).split('/', 1);
    const [jobAttempt] = parseJobAttempts('', [`${directory}/`]);
    if (jobAttempt === undefined) continue;
    if (layout?.jobAttempt !== jobAttempt) layout = new JobLayout(staging.key, token, jobAttempt);
    if (key.startsWith(layout.records)) {
      const parsed = layout.parseRecordKey(key);
      if (parsed !== undefined) {
        yield { kind: 'record', jobAttempt, key, etag, ...parsed };
        continue;
      }
      const error = unreadable(key, 'its name is not that of a task attempt');
      if (onBadName === undefined) throw error;
      onBadName(error);
    } else if (key.startsWith(layout.ledger)) yield { kind: 'ledgerSegment', jobAttempt, key };
    else if (key.startsWith(layout.closedFiles)) yield { kind: 'closedFile', jobAttempt, key };
    else if (key.startsWith(layout.claims)) yield { kind: 'claim', jobAttempt, key };
  }
}

/** Of every job attempt of a token, lowest first: all of {@link stagedObjects}. */
export async function listState(
  root: Root,
  token: JobToken,
  onBadName?: (error: CommitterError) => void,
): Promise<StagedState[]> {
  const found = new StagedStates();
  for await (const object of stagedObjects(root, token, onBadName)) found.add(object);
  return found.all();
}

/** Gathers what a listing has. */
export class StagedStates {
  readonly #found = new Map<
    number,
    { records: ListedRecord[]; ledgerSegments: string[]; closedFiles: string[]; claims: string[] }
  >();

  add(object: StagedObject): void {
    const { kind, jobAttempt, key } = object;
    let state = this.#found.get(jobAttempt);
    if (state === undefined) {
      state = { records: [], ledgerSegments: [], closedFiles: [], claims: [] };
      this.#found.set(jobAttempt, state);
    }
    if (kind === 'record') state.records.push(object);
    else if (kind === 'ledgerSegment') state.ledgerSegments.push(key);
    else if (kind === 'closedFile') state.closedFiles.push(key);
    else state.claims.push(key);
  }

  /** Lowest job attempt first. */
  all(): StagedState[] {
    return [...this.#found]
      .map(([jobAttempt, state]) => ({ jobAttempt, ...state }))
      .sort((a, b) => a.jobAttempt - b.jobAttempt);
  }
}
