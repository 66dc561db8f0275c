import type { RootConfig } from '../config/config.js';
import { formatUri } from '../core/uri.js';
import type { Clock, Random } from '../ports/clock.js';
import { isStoreError, type ObjectStore, StoreError, type UploadRef } from '../ports/object-store.js';
import { probeKey, refusesConditionalPut } from './staging-probe.js';

/** One line of `check`. `unmet`: the store answers, but not as the configuration or the protocol counts on. */
export interface Finding {
  readonly subject: string;
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'skipped' | 'failed' | 'unmet' | 'unreachable';
  readonly message: string;
}

export interface CheckDeps {
  readonly clock: Clock;
  readonly random: Random;
}

type Outcome = Omit<Finding, 'subject' | 'check'>;

const warnSkewMs = 30_000;
/** Stores refuse requests that are signed 15 minutes off. */
const failSkewMs = 10 * 60_000;
const warnLifecycleDays = 7;
const otherEtag = '"00000000000000000000000000000000"';

/** Tries what the protocol needs of a root's store, on the store itself. Cleans up behind itself. */
export async function checkRoot(root: RootConfig, store: ObjectStore, deps: CheckDeps): Promise<Finding[]> {
  const probe = new RootProbe(root, store, deps);
  const findings: Finding[] = [];
  for (const [check, run] of probe.checks()) {
    const outcome = await run().catch((error: unknown) => explain(error, root));
    findings.push({ subject: `roots[${root.index}] ${root.uri}`, check, ...outcome });
    // Without these nothing else can be said.
    if (check === 'reach' && outcome.status !== 'ok') break;
  }
  return findings;
}

class RootProbe {
  private readonly capabilitiesKey: string;

  constructor(
    private readonly root: RootConfig,
    private readonly store: ObjectStore,
    private readonly deps: CheckDeps,
  ) {
    this.capabilitiesKey = `stores.${root.store}.capabilities`;
  }

  checks(): readonly (readonly [string, () => Promise<Outcome>])[] {
    return [
      ['reach', () => this.reach()],
      ['conditional put', () => this.conditionalPut()],
      ['conditional overwrite', () => this.conditionalOverwrite()],
      ['clock', () => this.clockSkew()],
      ['conditional delete', () => this.conditionalDelete()],
      ['upload', () => this.upload()],
      ['presigned part', () => this.presignedPart()],
      ['conditional complete', () => this.conditionalComplete()],
      ['lifecycle rule', () => this.lifecycle()],
    ];
  }

  private async reach(): Promise<Outcome> {
    const { location, staging } = this.root;
    await this.store.list(location.bucket, dirPrefix(location.key), { maxKeys: 1 });
    await this.store.list(staging.bucket, dirPrefix(staging.key), { maxKeys: 1 });
    return ok('the store answers and takes the credentials');
  }

  private async conditionalPut(): Promise<Outcome> {
    const refusal = await refusesConditionalPut(this.root, this.store, this.deps.random);
    return refusal === undefined
      ? ok('the second put of one key is refused')
      : { status: 'unmet', message: refusal };
  }

  private async clockSkew(): Promise<Outcome> {
    return this.withStagingObject(async (object) => {
      const beforeMs = this.deps.clock.nowMs();
      await this.store.put(object, Buffer.from('clock'), {});
      const afterMs = this.deps.clock.nowMs();
      const storeMs = (await this.store.head(object))?.lastModifiedMs ?? beforeMs;
      // Stores round down to a second.
      const skewMs = storeMs < beforeMs - 1_000 ? storeMs - beforeMs : Math.max(0, storeMs - afterMs);
      const text = `this machine's clock and the store's differ by ${(Math.abs(skewMs) / 1_000).toFixed(1)} s`;
      if (Math.abs(skewMs) >= failSkewMs) {
        return {
          status: 'unmet',
          message: `${text}; stores refuse signatures that far off: set this machine's clock.`,
        };
      }
      if (Math.abs(skewMs) >= warnSkewMs)
        return { status: 'warn', message: `${text}: set this machine's clock.` };
      return ok(text);
    });
  }

  private async conditionalOverwrite(): Promise<Outcome> {
    return this.withStagingObject(async (object) => {
      await this.store.put(object, Buffer.from('first'), {});
      const works = await refused(() =>
        this.store.put(object, Buffer.from('second'), { ifMatch: otherEtag }),
      );
      return this.compare('conditionalOverwrite', works, 'a put with If-Match and another ETag is refused');
    });
  }

  private async conditionalDelete(): Promise<Outcome> {
    return this.withStagingObject(async (object) => {
      const { etag } = await this.store.put(object, Buffer.from('delete'), {});
      const works = await refused(() => this.store.delete(object, { ifMatch: otherEtag }));
      if (works) await this.store.delete(object, { ifMatch: etag });
      return this.compare('conditionalDelete', works, 'a delete with If-Match and another ETag is refused');
    });
  }

  private async upload(): Promise<Outcome> {
    const { bucket, key } = this.root.location;
    return this.withUpload({ bucket, key: probeKey(key, this.deps.random) }, async (upload) => {
      await this.store.uploadPart(upload, 1, Buffer.from('part'));
      const { parts } = await this.store.listParts(upload, {});
      if (parts.length !== 1)
        return { status: 'unmet', message: `one part was uploaded, ${parts.length} are listed.` };
      const isListed = await this.isListed(upload);
      if ((await this.store.head(upload)) !== undefined) {
        return { status: 'unmet', message: 'an upload that was not completed is visible as an object.' };
      }
      await this.store.abort(upload);
      if (isListed && (await this.isListed(upload))) {
        return { status: 'unmet', message: 'an aborted upload is still listed.' };
      }
      return this.compare('listUploadsByPrefix', isListed, 'created, uploaded, listed and aborted');
    });
  }

  private async isListed(upload: UploadRef): Promise<boolean> {
    const prefix = dirPrefix(this.root.location.key);
    let continuation: string | undefined;
    try {
      do {
        const page = await this.store.listUploads(
          upload.bucket,
          prefix,
          continuation === undefined ? {} : { continuation },
        );
        if (page.uploads.some((listed) => listed.uploadId === upload.uploadId)) return true;
        continuation = page.next;
      } while (continuation !== undefined);
      return false;
    } catch (error) {
      if (isStoreError(error, 'unsupported')) return false;
      throw error;
    }
  }

  private async presignedPart(): Promise<Outcome> {
    if (!this.store.capabilities.presign) {
      return {
        status: 'skipped',
        message: `${this.capabilitiesKey}.presign is false: there is no direct data plane.`,
      };
    }
    const { bucket, key } = this.root.location;
    return this.withUpload({ bucket, key: probeKey(key, this.deps.random) }, async (upload) => {
      const { url, headers, method } = await this.store.presignPart(upload, 1, 60);
      if (!url.startsWith('http'))
        return { status: 'skipped', message: 'the store has no address for other processes.' };
      const response = await fetch(url, { method, headers, body: 'part' }).catch((error: unknown) => {
        throw new StoreError('unavailable', 'the presigned URL did not answer', { cause: error });
      });
      if (response.ok) return ok('a PUT to a presigned URL is taken');
      return {
        status: 'unmet',
        message:
          `a PUT to a presigned URL is answered ${response.status}: check stores.${this.root.store}.endpoint, region ` +
          `and pathStyle, or set ${this.capabilitiesKey}.presign to false.`,
      };
    });
  }

  private async conditionalComplete(): Promise<Outcome> {
    return this.withStagingObject(async (object) => {
      await this.store.put(object, Buffer.from('complete'), {});
      return this.withUpload(object, async (upload) => {
        const part = await this.store.uploadPart(upload, 1, Buffer.from('part'));
        const works = await refused(() => this.store.complete(upload, [part], { ifNoneMatch: '*' }));
        return this.compare(
          'conditionalComplete',
          works,
          'completing onto an existing key with If-None-Match is refused',
        );
      });
    });
  }

  private async lifecycle(): Promise<Outcome> {
    const { bucket, key } = this.root.location;
    const rules = await this.store.lifecycle(bucket);
    if (rules === undefined)
      return { status: 'skipped', message: "the store doesn't tell its lifecycle rules." };
    const relevant = rules.filter(
      ({ prefix }) => prefix.startsWith(dirPrefix(key)) || dirPrefix(key).startsWith(prefix),
    );
    const shortest = relevant.sort((a, b) => a.daysAfterInitiation - b.daysAfterInitiation)[0];
    if (shortest === undefined) {
      return ok('no rule aborts uploads; one of 7 days or more would remove those that no ledger saw');
    }
    const days = shortest.daysAfterInitiation;
    const text = `a rule on bucket ${bucket} aborts uploads under "${shortest.prefix}" after ${days} days`;
    if (days >= warnLifecycleDays) return ok(`${text}; jobs must be shorter than that`);
    return {
      status: 'warn',
      message: `${text}: a job that runs longer loses its output. Make it ${warnLifecycleDays}.`,
    };
  }

  /** A capability as it is against what the configuration says. */
  private compare(capability: Capability, works: boolean, whatWorks: string): Outcome {
    const claimed = this.store.capabilities[capability];
    if (works === claimed) {
      return works
        ? ok(whatWorks)
        : { status: 'warn', message: `the store can't; ${consequences[capability]}.` };
    }
    const key = `${this.capabilitiesKey}.${capability}`;
    if (works) return { status: 'warn', message: `the store can, but ${key} is false: remove it.` };
    return {
      status: 'unmet',
      message: `the store can't: set ${key} to false. Then ${consequences[capability]}.`,
    };
  }

  private async withStagingObject(
    use: (object: { bucket: string; key: string }) => Promise<Outcome>,
  ): Promise<Outcome> {
    const { bucket, key } = this.root.staging;
    const object = { bucket, key: probeKey(key, this.deps.random) };
    try {
      return await use(object);
    } finally {
      await this.store.delete(object, {}).catch(() => 'absent');
    }
  }

  private async withUpload(
    object: { bucket: string; key: string },
    use: (upload: UploadRef) => Promise<Outcome>,
  ): Promise<Outcome> {
    const upload = { ...object, uploadId: await this.store.initiate(object, {}) };
    try {
      return await use(upload);
    } finally {
      await this.store.abort(upload).catch(() => 'absent');
    }
  }
}

type Capability =
  'conditionalOverwrite' | 'conditionalDelete' | 'conditionalComplete' | 'listUploadsByPrefix';

const consequences: Readonly<Record<Capability, string>> = {
  conditionalOverwrite:
    'an inline file that replaces an object may also replace one that somebody else has just written',
  conditionalDelete: 'an object that somebody else writes between our look and our delete may be lost',
  conditionalComplete: 'two writers of one key are noticed after the fact, or not at all',
  listUploadsByPrefix: '`uploads list` and `gc` by prefix find nothing',
};

/** Whether the store refuses because of the condition. */
async function refused(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return false;
  } catch (error) {
    if (isStoreError(error, 'precondition-failed', 'conflict')) return true;
    if (isStoreError(error, 'unsupported')) return false;
    throw error;
  }
}

/** A failed request as a sentence that names the cause and the key to change. */
export function explain(error: unknown, root: RootConfig): Outcome {
  if (!(error instanceof StoreError)) {
    return { status: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
  const store = `stores.${root.store}`;
  switch (error.kind) {
    case 'no-such-bucket': {
      const { location, staging } = root;
      const buckets =
        location.bucket === staging.bucket ? location.bucket : `${location.bucket} or ${staging.bucket}`;
      return {
        status: 'failed',
        message: `bucket ${buckets} doesn't exist: create it, or change roots[${root.index}].uri or staging.`,
      };
    }
    case 'access-denied':
    case 'expired-credentials':
      return {
        status: 'failed',
        message: `the store refuses the credentials (${error.message}): change ${store}.credentials, or what they may do at ${formatUri(root.location)} and ${formatUri(root.staging)}.`,
      };
    case 'unavailable':
    case 'timeout':
      return {
        status: 'unreachable',
        message: `the store doesn't answer (${error.message}): check ${store}.endpoint and ${store}.region.`,
      };
    case 'throttled':
      return {
        status: 'unreachable',
        message: `the store throttles requests (${error.message}): try again later.`,
      };
    default:
      return { status: 'failed', message: `${error.message} (${error.kind}, store ${root.store}).` };
  }
}

function ok(message: string): Outcome {
  return { status: 'ok', message };
}

function dirPrefix(key: string): string {
  return key === '' ? '' : `${key}/`;
}
