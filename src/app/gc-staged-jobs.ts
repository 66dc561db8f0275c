import { isToken, type JobToken } from '../core/ids.js';
import { tokenPrefix } from '../core/staging-layout.js';
import type { ListedObject } from '../ports/object-store.js';
import { clockProbePrefix } from './gc-clock.js';
import { listAll } from './list-all.js';
import type { Root } from './roots.js';

/** What a listing of the staging root says of one token. */
export interface StagedJob {
  readonly token: JobToken;
  readonly jobAttempts: readonly number[];
  /** Date of the youngest object, by the store's clock. */
  readonly newestMs: number;
  /** There are task records or ledger segments. */
  readonly hasRecords: boolean;
}

/**
 * Every job of a staging root, from one listing of it: the keys of a token lie together. Thousands of ended jobs cost
 * a page for each few hundred of them, not a request each.
 */
export async function* stagedJobs(
  { store, staging }: Root,
  onOldProbe: (probe: ListedObject) => void,
): AsyncGenerator<StagedJob> {
  const prefix = `${staging.key}/`;
  let current:
    { token: JobToken; jobAttempts: Set<number>; newestMs: number; hasRecords: boolean } | undefined;
  for await (const object of listAll(store, staging.bucket, prefix)) {
    const [token = '', number = '', ...rest] = object.key.slice(prefix.length).split('/');
    if (token.startsWith(clockProbePrefix) && number === '') onOldProbe(object);
    if (!isToken(token) || !/^[0-9]{1,7}$/.test(number) || rest.length === 0) continue;
    if (current?.token !== token) {
      if (current !== undefined) yield stagedJob(current);
      current = { token, jobAttempts: new Set(), newestMs: 0, hasRecords: false };
    }
    current.jobAttempts.add(Number(number));
    current.newestMs = Math.max(current.newestMs, object.lastModifiedMs);
    current.hasRecords ||= rest.length > 1;
  }
  if (current !== undefined) yield stagedJob(current);
}

/** The same for one token, with its objects. */
export async function listStagedJob(
  { store, staging }: Root,
  token: JobToken,
): Promise<readonly ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const object of listAll(store, staging.bucket, tokenPrefix(staging.key, token)))
    objects.push(object);
  return objects;
}

function stagedJob(job: {
  readonly token: JobToken;
  readonly jobAttempts: ReadonlySet<number>;
  readonly newestMs: number;
  readonly hasRecords: boolean;
}): StagedJob {
  return { ...job, jobAttempts: [...job.jobAttempts].sort((a, b) => a - b) };
}
