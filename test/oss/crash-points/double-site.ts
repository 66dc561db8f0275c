import type { RequestKind } from '../../../src/adapters/decorators/intercepted-store.js';
import { OssObjectStore } from '../../../src/adapters/oss/oss-object-store.js';
import { SystemClock } from '../../../src/adapters/system/clock.js';
import type {
  MakeWorldStore,
  RawObject,
  RawStore,
  RawUpload,
  StoreMode,
  WorldStoreSettings,
} from '../../proof/world-store.js';
import type { RequestKind as CountedKind } from '../../support/observer/index.js';
import { OssDouble, ossErrorBody, type DoubleIntervention } from '../../support/oss-double/index.js';
import type { StoredObject } from '../../support/oss-double/stored-object.js';

const metadataPrefix = 'x-oss-meta-';

/**
 * The store of one world: the adapter `oss` as it is, over HTTP to a double of OSS in this process, both by the world's
 * clock. Which of two requests that are under way together comes first is the machine's choice, so that a run of a race
 * needn't repeat.
 */
export class DoubleSite {
  private settings: WorldStoreSettings | undefined;
  private readonly adapters: OssObjectStore[] = [];
  /** Ids of keys that daemons got. */
  private readonly issued: string[] = [];
  private waiting = 0;
  /** Held in virtual time, though under way in real time. */
  private held = 0;

  private constructor(private double: OssDouble | undefined) {}

  static async start(): Promise<DoubleSite> {
    const site = new DoubleSite(undefined);
    site.double = await OssDouble.start({ now: () => site.settings?.nowMs() ?? 0 });
    return site;
  }

  readonly makeStore: MakeWorldStore = (settings) => {
    this.settings = settings;
    const double = this.oss;
    double.createBucket(settings.bucket);
    const clock = Object.assign(new SystemClock(), { nowMs: () => settings.nowMs() });
    const common = {
      ...({ region: double.region, endpoint: double.endpoint, addressing: 'path' } as const),
      capabilities: settings.capabilities,
    };
    const lasting = { kind: 'static', ...double.accessKey } as const;
    const ofRole = {
      ...({
        kind: 'sts',
        roleArn: 'acs:ram::1:role/world',
        sessionName: 'world',
        durationSeconds: 3_600,
      } as const),
      source: double.accessKey,
    };
    const adapter = new OssObjectStore({ ...common, credentials: lasting }, clock);
    const ofDaemons = new OssObjectStore({ ...common, credentials: ofRole }, clock, () => {
      const { expiresAt, ...keys } = double.keys.issue(3_600_000);
      this.issued.push(keys.accessKeyId);
      return Promise.resolve({ ...keys, expiration: new Date(expiresAt) });
    });
    this.adapters.push(adapter, ofDaemons);
    const slowParts: DoubleIntervention = {
      during: async ({ uploadId }) => {
        this.held++;
        await settings.partPause(uploadId ?? '');
        this.held--;
        return undefined;
      },
    };
    double.on({ kind: 'part' }, slowParts);
    return {
      raw: this.watched(adapter),
      ofDaemons: this.watched(ofDaemons),
      underWay: () => this.waiting - this.held,
      turn: () => this.counted(new Promise<void>((resolve) => setImmediate(resolve))),
      fail: (mode, kind, send) => this.failing(mode, kind, send),
    };
  };

  async stop(): Promise<void> {
    for (const adapter of this.adapters) await adapter.close();
    await this.oss.stop();
  }

  private get oss(): OssDouble {
    if (this.double === undefined) throw new Error('the double has not been started');
    return this.double;
  }

  private async counted<T>(work: Promise<T>): Promise<T> {
    this.waiting++;
    try {
      return await work;
    } finally {
      this.waiting--;
    }
  }

  /** The adapter, of which each call counts while it is under way, and the double's own view of its state. */
  private watched(adapter: OssObjectStore): RawStore {
    const looks = {
      entries: (bucket: string) => this.entries(bucket),
      peek: ({ bucket, key }: { bucket: string; key: string }) => {
        const object = this.oss.stateOf(bucket).current(key);
        return object === undefined ? undefined : rawOf(object);
      },
      uploads: (bucket: string) => this.uploads(bucket),
    };
    return new Proxy(adapter, {
      get: (target, name): unknown => {
        if (name in looks) return looks[name as keyof typeof looks];
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        const call = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => this.counted(call(...args));
      },
    }) as unknown as RawStore;
  }

  private *entries(bucket: string): Generator<readonly [string, RawObject]> {
    for (const [key, versions] of this.oss.stateOf(bucket).versions.entriesFrom('')) {
      const object = versions.at(-1)?.object;
      if (object !== undefined) yield [key, rawOf(object)];
    }
  }

  private uploads(bucket: string): RawUpload[] {
    const found: RawUpload[] = [];
    for (const [key, ofKey] of this.oss.stateOf(bucket).uploads.entriesFrom('')) {
      for (const [uploadId, { state, parts }] of ofKey.entriesFrom('')) {
        if (state === 'open' || (state === 'aborted' && parts.size > 0))
          found.push({ bucket, key, uploadId, state });
      }
    }
    return found;
  }

  /** The next request of that kind; of two that are under way together, the one that arrives first. */
  private async failing<T>(mode: StoreMode, kind: RequestKind, send: () => Promise<T>): Promise<T> {
    const rule = this.oss.on({ kind: kindOf(kind), times: 1 }, this.intervention(mode, kind));
    try {
      return await send();
    } finally {
      rule.remove();
    }
  }

  private intervention(mode: StoreMode, kind: RequestKind): DoubleIntervention {
    const respond = (status: number, code: string) => ({
      do: 'respond' as const,
      status,
      body: ossErrorBody(code, 'a fault of this run'),
      headers: {
        // The answer to a HEAD has no body.
        'x-oss-err': Buffer.from(ossErrorBody(code, 'a fault of this run')).toString('base64'),
        date: new Date(this.settings?.nowMs() ?? 0).toUTCString(),
      },
    });
    switch (mode) {
      // A Complete says of its end in the body of a 200, which may come after the object.
      case 'lost':
        return {
          after: () => (kind === 'complete' ? respond(200, 'InternalError') : { do: 'drop' as const }),
        };
      case 'failed':
        return {
          before: () => (kind === 'complete' ? respond(200, 'InternalError') : { do: 'drop' as const }),
        };
      case 'outage':
        return { before: () => respond(503, 'ServiceUnavailable') };
      // For good: what was signed before with the same keys is refused as well, whenever it comes.
      case 'expired':
        return {
          before: () => {
            for (const id of this.issued) this.oss.keys.expire(id);
            return undefined;
          },
        };
      case 'gone':
        return { after: () => respond(404, 'NoSuchUpload') };
      case 'conflict':
        return { before: () => respond(409, 'OperationAborted') };
    }
  }
}

function kindOf(kind: RequestKind): CountedKind {
  if (kind === 'get_stream') return 'get';
  return kind === 'lifecycle' ? 'other' : kind;
}

const bodies = new WeakMap<StoredObject, RawObject>();

function rawOf(object: StoredObject): RawObject {
  const known = bodies.get(object);
  if (known !== undefined) return known;
  const metadata = Object.entries(object.entries)
    .filter(([name]) => name.startsWith(metadataPrefix))
    .map(([name, value]) => [name.slice(metadataPrefix.length), value]);
  const raw = {
    body: Buffer.concat(object.chunks),
    metadata: Object.fromEntries(metadata) as RawObject['metadata'],
    lastModifiedMs: object.lastModified,
    etag: object.etag,
  };
  bodies.set(object, raw);
  return raw;
}
