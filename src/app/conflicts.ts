import { CommitterError } from '../core/errors.js';
import { isDataObject } from '../core/data-objects.js';
import { uriOf } from '../core/records/attempt-record.js';
import type { Deletion } from '../core/records/plan.js';
import { formatUri, parentKey, parseUri, type StoreUri } from '../core/uri.js';
import type { AppContext } from './context.js';
import type { Job } from './job-directory.js';
import { listAll } from './list-all.js';
import type { OutputKeys } from './output-keys.js';

interface Directory {
  readonly uri: StoreUri;
  /** Only what lies directly in it. */
  readonly isShallow: boolean;
}

/**
 * What the conflict mode says of the data objects that are there when the plan is made. Objects at the job's own
 * final keys are no deletions: the publication replaces them.
 *
 * @returns the deletions of `replace`, as they are seen now.
 * @throws CommitterError DESTINATION_EXISTS in mode `fail` where there are any.
 */
export async function judgeConflicts(ctx: AppContext, job: Job, keys: OutputKeys): Promise<Deletion[]> {
  const { conflictMode } = job.record.options;
  if (conflictMode === 'append') return [];
  const found = new Map<string, Deletion>();
  for (const directory of await directoriesOf(job, keys)) {
    for await (const object of dataObjectsIn(ctx, directory, job.record.principal)) {
      const uri = uriOf(object);
      if (conflictMode === 'fail') {
        throw new CommitterError(
          'DESTINATION_EXISTS',
          `${formatUri(directory.uri)} holds data already, as ${uri}: choose an empty destination, or another commitbridge.conflict-mode than fail`,
        );
      }
      found.set(uri, object);
    }
  }
  if (found.size > 0) await leaveOutOwn(found, keys);
  return [...found.values()];
}

async function leaveOutOwn(found: Map<string, Deletion>, own: OutputKeys): Promise<void> {
  for await (const { keys, ...place } of own.blocks())
    for (const key of keys) found.delete(uriOf({ ...place, key }));
}

async function directoriesOf(job: Job, outputs: OutputKeys): Promise<Directory[]> {
  const { conflictScope, conflictPaths } = job.record.options;
  switch (conflictScope) {
    case 'destination':
      return [{ uri: job.destination, isShallow: false }];
    case 'paths':
      return conflictPaths.map((path) => ({
        uri: parseUri(path, 'options.conflict_paths'),
        isShallow: false,
      }));
    case 'partitions': {
      const partitions = new Map<string, Directory>();
      for await (const { keys, ...place } of outputs.blocks()) {
        for (const key of keys) {
          const uri = { ...place, key: parentKey(key) };
          const name = formatUri(uri);
          if (!partitions.has(name))
            partitions.set(name, { uri, isShallow: name === formatUri(job.destination) });
        }
      }
      return [...partitions.values()];
    }
  }
}

async function* dataObjectsIn(
  ctx: AppContext,
  { uri, isShallow }: Directory,
  principal: string,
): AsyncGenerator<Deletion> {
  const { scheme, bucket, key: directory } = uri;
  const prefix = directory === '' ? '' : `${directory}/`;
  for await (const { key, etag } of listAll(ctx.roots.storeOf(uri), bucket, prefix, isShallow)) {
    // A destination may hold the staging root, and roots of others.
    const isTheirs = !ctx.roots.mayUse({ scheme, bucket, key }, principal);
    if (isDataObject(directory, key) && !isTheirs) {
      yield { scheme, bucket, key, etag };
    }
  }
}
