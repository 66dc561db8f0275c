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

/**
 * Of every job attempt of a token, lowest first, from one listing. `onBadName` is told of objects among the records
 * that are none, which are left out; without it the first is an error.
 */
export async function listState(
  root: Root,
  token: JobToken,
  onBadName?: (error: CommitterError) => void,
): Promise<StagedState[]> {
  const { store, staging } = root;
  const prefix = tokenPrefix(staging.key, token);
  const found = new Map<
    number,
    { records: ListedRecord[]; ledgerSegments: string[]; closedFiles: string[]; claims: string[] }
  >();
  for await (const { key, etag } of listAll(store, staging.bucket, prefix)) {
    const [directory = ''] = key.slice(prefix.length).split('/', 1);
    const [jobAttempt] = parseJobAttempts('', [`${directory}/`]);
    if (jobAttempt === undefined) continue;
    const layout = new JobLayout(staging.key, token, jobAttempt);
    let state = found.get(jobAttempt);
    if (state === undefined) {
      found.set(jobAttempt, (state = { records: [], ledgerSegments: [], closedFiles: [], claims: [] }));
    }
    if (key.startsWith(layout.records)) {
      const parsed = layout.parseRecordKey(key);
      if (parsed === undefined) {
        const error = unreadable(key, 'its name is not that of a task attempt');
        if (onBadName === undefined) throw error;
        onBadName(error);
      } else {
        state.records.push({ key, etag, ...parsed });
      }
    } else if (key.startsWith(layout.ledger)) {
      state.ledgerSegments.push(key);
    } else if (key.startsWith(layout.closedFiles)) {
      state.closedFiles.push(key);
    } else if (key.startsWith(layout.claims)) {
      state.claims.push(key);
    }
  }
  return [...found]
    .map(([jobAttempt, state]) => ({ jobAttempt, ...state }))
    .sort((a, b) => a.jobAttempt - b.jobAttempt);
}
