import { OssObjectStore } from '../../../src/adapters/oss/oss-object-store.js';
import { OSS_CAPABILITIES } from '../../../src/adapters/oss/oss-options.js';
import type { MemoryObjectStore } from '../../../src/adapters/memory/memory-object-store.js';
import type { ObjectSnapshot, UploadSnapshot } from '../../../src/adapters/memory/memory-options.js';
import { SystemClock } from '../../../src/adapters/system/clock.js';
import type { PartInfo, StoreCapabilities, StoreErrorKind } from '../../../src/ports/object-store.js';
import { StoreError } from '../../../src/ports/object-store.js';
import { loopback, OssDouble, putSigned } from '../oss-double/index.js';

const metadataPrefix = 'x-oss-meta-';
const running = new Set<Promise<OssDouble>>();

/** For after all tests of a file. */
export async function stopDoubles(): Promise<void> {
  const doubles = [...running];
  running.clear();
  for (const double of doubles) await (await double).stop();
}

export interface OssMemoryOptions {
  /** The double's clock; without it, the system's, as the adapter's is always. */
  readonly now?: () => number;
  /** Entries on a page of each listing. */
  readonly pageSize?: number;
}

/** Within the quarter of an hour that OSS grants to a request's time. */
const mostSkewMs = 5 * 60_000;

/**
 * What the tests use of a store in memory, by the oss adapter and a double of OSS in this process: so that the same
 * tests run on both. It starts with the first call.
 */
export function newOssMemory(
  bucket: string,
  capabilities: Partial<StoreCapabilities>,
  { now = Date.now, pageSize }: OssMemoryOptions = {},
): MemoryObjectStore {
  const all = { ...OSS_CAPABILITIES, ...capabilities };
  let started: { readonly double: OssDouble; readonly store: OssObjectStore } | undefined;
  const starting = async (): Promise<{ double: OssDouble; store: OssObjectStore }> => {
    const ready = OssDouble.start({ buckets: [bucket], pathStyle: 'refused', now });
    running.add(ready);
    const double = await ready;
    double.stateOf(bucket).minPartBytes = all.minPartBytes;
    const credentials = { kind: 'static', ...double.accessKey } as const;
    const server = { region: double.region, endpoint: double.endpointAt(), lookup: loopback };
    const store = new OssObjectStore({ ...server, credentials, capabilities }, new SystemClock());
    started = { double, store };
    return started;
  };
  let ready: ReturnType<typeof starting> | undefined;
  const state = (): ReturnType<OssDouble['stateOf']> | undefined => started?.double.stateOf(bucket);

  let skewMs = 0;
  let learning = Promise.resolve<unknown>(undefined);
  /** A clock that a test moves is told by the answer to a request that is refused for its time: no test counts it. */
  const learnTime = (store: OssObjectStore): Promise<unknown> => {
    const newSkewMs = now() - Date.now();
    if (Math.abs(newSkewMs - skewMs) >= mostSkewMs) {
      skewMs = newSkewMs;
      learning = store.head({ bucket, key: 'time' }).catch(() => undefined);
    }
    return learning;
  };
  /** Of a listing: bucket, prefix, page and call. */
  const shortened = ([name, prefix, page, ...rest]: unknown[]): unknown[] => {
    if (pageSize === undefined) return [name, prefix, page, ...rest];
    return [name, prefix, { ...(page as object), maxKeys: pageSize, maxUploads: pageSize }, ...rest];
  };

  const own = {
    capabilities: all,
    /** Several daemons of a test may share it; the double is stopped with all others. */
    close: () => Promise.resolve(),
    objects: (): ObjectSnapshot[] =>
      [...(state()?.versions.entriesFrom('') ?? [])].flatMap(([key, versions]) => {
        const object = versions.at(-1)?.object;
        if (object === undefined) return [];
        const body = Buffer.concat(object.chunks);
        const metadata = Object.entries(object.entries).flatMap(([name, value]) =>
          name.startsWith(metadataPrefix) ? [[name.slice(metadataPrefix.length), value] as const] : [],
        );
        return [
          {
            ...{ bucket, key, body, sizeBytes: body.length, etag: `"${object.etag}"` },
            ...{ lastModifiedMs: object.lastModified, metadata: Object.fromEntries(metadata) },
            contentType: object.entries['content-type'],
            uploadId: object.type === 'Multipart' ? 'unknown' : undefined,
          },
        ];
      }),
    uploads: (): UploadSnapshot[] =>
      [...(state()?.uploads.entriesFrom('') ?? [])].flatMap(([key, ofKey]) =>
        [...ofKey.entriesFrom('')]
          .filter(([, upload]) => upload.state !== 'completed')
          .filter(([, upload]) => upload.state === 'open' || upload.parts.size > 0)
          .map(([uploadId, upload]) => ({
            ...{ bucket, key, uploadId, metadata: {}, initiatedMs: upload.initiatedAt },
            state: upload.state === 'open' ? ('open' as const) : ('aborted' as const),
            parts: upload.sortedParts().map(({ partNumber, etag, size }) => ({
              ...{ partNumber, etag: `"${etag}"`, sizeBytes: size },
            })),
          })),
      ),
    putSigned: async (url: string, body: Uint8Array): Promise<PartInfo> => {
      const headers = { 'content-type': 'application/octet-stream' };
      const answer = await putSigned(url, headers, body);
      if (answer.status !== 200) throw refusal(answer.status, answer.body);
      const partNumber = Number(new URL(url).searchParams.get('partNumber'));
      return { partNumber, etag: answer.etag ?? '', sizeBytes: body.byteLength };
    },
  };
  return new Proxy(own, {
    get(target, name) {
      if (name in target) return Reflect.get(target, name) as unknown;
      if (name === 'then') return undefined;
      return async (...args: unknown[]) => {
        const { store } = await (ready ??= starting());
        await learnTime(store);
        const method = Reflect.get(store, name) as (...given: unknown[]) => unknown;
        return method.apply(store, name === 'list' || name === 'listUploads' ? shortened(args) : args);
      };
    },
  }) as unknown as MemoryObjectStore;
}

/** As the store in memory says it. */
function refusal(status: number, text: string): StoreError {
  const code = /<Code>([^<]*)<\/Code>/.exec(text)?.[1];
  const kind: StoreErrorKind = code === 'NoSuchUpload' ? 'no-such-upload' : 'access-denied';
  return new StoreError(kind, text, { status });
}
