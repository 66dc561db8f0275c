import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { S3ObjectStore } from '../../../src/adapters/s3/s3-object-store.js';
import type { S3StoreOptions } from '../../../src/adapters/s3/s3-options.js';
import { SystemClock } from '../../../src/adapters/system/clock.js';
import { startScriptedServer, errorXml } from './scripted-server.js';
import type { Answer, SeenRequest } from './scripted-server.js';

const object = { bucket: 'bucket', key: 'k' };
const upload = { ...object, uploadId: 'u' };
const parts = [{ partNumber: 1, etag: '"e"', sizeBytes: 1 }];
const completed = '<CompleteMultipartUploadResult><ETag>"x-1"</ETag></CompleteMultipartUploadResult>';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

async function against(
  answers: readonly Answer[],
  options: Partial<S3StoreOptions> = {},
): Promise<{ store: S3ObjectStore; seen: SeenRequest[] }> {
  const { endpoint, seen, stop } = await startScriptedServer(answers);
  const store = offline({ endpoint, pathStyle: true, ...options });
  stops.push(stop, () => store.close());
  return { store, seen };
}

function offline(options: Partial<S3StoreOptions> = {}): S3ObjectStore {
  const credentials = { kind: 'static', accessKeyId: 'AKID', secretAccessKey: 'secret' } as const;
  return new S3ObjectStore({ region: 'eu-west-1', credentials, ...options }, new SystemClock());
}

describe('S3ObjectStore: answers to a Complete', () => {
  it.each([
    ['an error in the body of a 200', errorXml('InternalError')],
    ['one with a line break after it', `${errorXml('InternalError')}\n`],
    ['one after the spaces that keep the connection alive', `   \n  ${errorXml('InternalError')}`],
    ['a 200 without a body', ''],
    ['a 200 with half a body', '<CompleteMultipartUploadResult><ETag>"x'],
    ['a 200 with a page', '<html><body>hello</body></html>'],
    ['a 200 that is no XML', 'OK'],
  ])('%s is no success', async (_, body) => {
    const { store, seen } = await against([{ status: 200, body }]);
    await expect(store.complete(upload, parts, {})).rejects.toMatchObject({
      name: 'StoreError',
      kind: 'unavailable',
    });
    expect(seen).toHaveLength(1);
  });

  it('the code in the body of a 200 counts', async () => {
    const { store } = await against([{ status: 200, body: errorXml('SlowDown') }]);
    await expect(store.complete(upload, parts, {})).rejects.toMatchObject({ kind: 'throttled' });
  });

  it('spaces before the result do not matter', async () => {
    const { store } = await against([{ status: 200, body: `  \n  ${completed}` }]);
    await expect(store.complete(upload, parts, {})).resolves.toEqual({ etag: '"x-1"' });
  });

  it('NoSuchKey means that the upload is gone', async () => {
    const { store } = await against([{ status: 404, body: errorXml('NoSuchKey') }]);
    await expect(store.complete(upload, parts, {})).rejects.toMatchObject({ kind: 'no-such-upload' });
  });

  it('the condition is sent', async () => {
    const { store, seen } = await against([{ status: 200, body: completed }]);
    await store.complete(upload, parts, { ifNoneMatch: '*' });
    expect(seen[0]?.headers['if-none-match']).toBe('*');
  });
});

describe('S3ObjectStore: a page with 200 that is not the store’s', () => {
  const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html><p>Welcome</p></html>' };
  it.each<[string, (store: S3ObjectStore) => Promise<unknown>]>([
    ['get', (store) => store.get(object)],
    ['head', (store) => store.head(object)],
    ['put', (store) => store.put(object, Buffer.from('x'), {})],
    ['initiate', (store) => store.initiate(object, {})],
    ['uploadPart', (store) => store.uploadPart(upload, 1, Buffer.from('x'))],
    ['list', (store) => store.list('bucket', '', {})],
    ['listUploads', (store) => store.listUploads('bucket', '', {})],
    ['listParts', (store) => store.listParts(upload, {})],
  ])('is no answer to %s, and no empty listing', async (_, call) => {
    const { store } = await against([page]);
    await expect(call(store)).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
  });
});

describe('S3ObjectStore: failures', () => {
  it.each([
    ['a page with 503', { status: 503, body: '<html>Service Unavailable</html>' }, 'unavailable'],
    ['a text with 502', { status: 502, body: 'Bad Gateway' }, 'unavailable'],
    ['a page with 404', { status: 404, body: '<html>Not Found</html>' }, 'invalid'],
    ['an empty 404', { status: 404 }, 'invalid'],
    ['a reset connection', 'reset', 'unavailable'],
    [
      'half an answer',
      { status: 200, headers: { 'content-length': '100' }, body: 'half', cut: true },
      'unavailable',
    ],
  ] as const)('%s', async (_, answer, kind) => {
    const { store, seen } = await against([answer]);
    await expect(store.get(object)).rejects.toMatchObject({ name: 'StoreError', kind });
    expect(seen).toHaveLength(1);
  });

  it('a get of no object is no failure; one in no bucket is', async () => {
    const { store } = await against(
      ['NoSuchKey', 'NoSuchBucket'].map((code) => ({ status: 404, body: errorXml(code) })),
    );
    await expect(store.get(object)).resolves.toBeUndefined();
    await expect(store.get(object)).rejects.toMatchObject({ kind: 'no-such-bucket' });
  });

  it('never repeats', async () => {
    const { store, seen } = await against([
      { status: 503, headers: { 'retry-after': '2' }, body: errorXml('SlowDown') },
    ]);
    await expect(store.abort(upload)).rejects.toMatchObject({
      kind: 'throttled',
      message: 'Said the store. code=SlowDown status=503',
      details: { retryAfterMs: 2_000, status: 503, code: 'SlowDown' },
    });
    expect(seen).toHaveLength(1);
  });

  it('cancels a request that is under way', async () => {
    const { store } = await against(['hang']);
    await expect(store.head(object, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      kind: 'cancelled',
    });
  });

  it('cancels one of the hot calls', async () => {
    const { store } = await against(['hang']);
    await expect(store.get(object, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      kind: 'cancelled',
    });
  });

  it('a request that waited for a connection until it was cancelled is not sent', async () => {
    const { store, seen } = await against(['hang'], { maxSockets: 1 });
    const first = store.abort(upload, { signal: AbortSignal.timeout(200) });
    const second = store.abort(upload, { signal: AbortSignal.timeout(50) });
    await Promise.all(
      [first, second].map((call) => expect(call).rejects.toMatchObject({ kind: 'cancelled' })),
    );
    expect(seen).toHaveLength(1);
  });

  it('signs by the clock of the store, once an answer has told it', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const { store, seen } = await against([
      { status: 403, headers: { date }, body: errorXml('RequestTimeTooSkewed') },
      { status: 204, headers: { date } },
    ]);
    await expect(store.abort(upload)).rejects.toMatchObject({ kind: 'unavailable' });
    await store.abort(upload);
    const hours = seen.map(({ headers }) => String(headers['x-amz-date']).slice(0, 11));
    expect(hours[1]).not.toBe(hours[0]);
    const { url } = await store.presignPart(upload, 1, 60);
    expect(new URL(url).searchParams.get('X-Amz-Date')?.slice(0, 11)).toBe(hours[1]);
  });

  it('a stream that breaks in the middle breaks with unavailable', async () => {
    const headers = { 'content-length': '100', etag: '"e"' };
    const { store } = await against([{ status: 200, headers, body: 'half', cut: true }]);
    const stream = await store.getStream(object);
    await expect(buffer(stream)).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
  });

  it('gives the connection back when a stream is left', async () => {
    const { store } = await against([{ status: 200, body: 'x'.repeat(5_000_000) }], { maxSockets: 1 });
    for (let i = 0; i < 3; i += 1) (await store.getStream(object)).destroy();
    expect(await buffer(await store.getStream(object))).toHaveLength(5_000_000);
  });

  it('If-Match on a key without an object is a failed condition', async () => {
    const { store } = await against([{ status: 404, body: errorXml('NoSuchKey') }]);
    await expect(store.put(object, Buffer.from('x'), { ifMatch: '"e"' })).rejects.toMatchObject({
      kind: 'precondition-failed',
    });
  });

  it('sends nothing that its capabilities exclude', async () => {
    const capabilities = {
      conditionalPut: false,
      conditionalOverwrite: false,
      conditionalComplete: false,
      conditionalDelete: false,
      listUploadsByPrefix: false,
      presign: false,
    };
    const { store, seen } = await against([{ status: 200 }], { capabilities });
    const calls = [
      store.put(object, Buffer.from('x'), { ifNoneMatch: '*' }),
      store.put(object, Buffer.from('x'), { ifMatch: '"e"' }),
      store.complete(upload, parts, { ifNoneMatch: '*' }),
      store.delete(object, { ifMatch: '"e"' }),
      store.listUploads('bucket', '', {}),
      store.presignPart(upload, 1, 60),
      store.preparePut(object, {}, 60),
      store.prepareDelete(object, 60),
    ];
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { kind: 'unsupported' } });
    }
    expect(seen).toEqual([]);
  });
});

describe('S3ObjectStore: requests', () => {
  it('a part goes without checksums and without asking first', async () => {
    const { store, seen } = await against([{ status: 200, headers: { etag: '"e"' } }]);
    await store.uploadPart(upload, 1, Buffer.alloc(3_000_000));
    const names = Object.keys(seen[0]?.headers ?? {});
    expect(names.filter((name) => /checksum|sdk-checksum|trailer|content-md5|^expect$/.test(name))).toEqual(
      [],
    );
    expect(seen[0]?.headers['content-length']).toBe('3000000');
    expect(seen[0]?.body).toHaveLength(3_000_000);
  });

  it('new objects get encryption and storage class', async () => {
    const { store, seen } = await against(
      [
        { status: 200, headers: { etag: '"e"' } },
        {
          status: 200,
          body: '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>',
        },
      ],
      { sse: { mode: 'aws:kms', kmsKeyId: 'key-1' }, storageClass: 'STANDARD_IA' },
    );
    await store.put(object, Buffer.from('x'), {});
    await store.initiate(object, {});
    for (const { headers } of seen) {
      expect(headers).toMatchObject({
        'x-amz-server-side-encryption': 'aws:kms',
        'x-amz-server-side-encryption-aws-kms-key-id': 'key-1',
        'x-amz-storage-class': 'STANDARD_IA',
      });
    }
    expect(seen).toHaveLength(2);
  });

  it('names of metadata come back in lower case', async () => {
    const headers = {
      etag: '"e"',
      'content-length': '1',
      'last-modified': 'Tue, 01 Dec 2026 00:00:00 GMT',
      'x-amz-meta-Commitbridge-Id': 'v',
    };
    const { store } = await against([{ status: 200, headers }]);
    await expect(store.head(object)).resolves.toMatchObject({ metadata: { 'commitbridge-id': 'v' } });
  });

  it('failures of deleteMany are in its result, absent keys are not', async () => {
    const body = `<DeleteResult>
      <Error><Key>a</Key><Code>AccessDenied</Code><Message>no</Message></Error>
      <Error><Key>b</Key><Code>NoSuchKey</Code><Message>gone</Message></Error></DeleteResult>`;
    const { store } = await against([{ status: 200, body }]);
    await expect(store.deleteMany('bucket', ['a', 'b', 'c'])).resolves.toEqual({
      failed: [{ key: 'a', message: 'AccessDenied: no' }],
    });
  });

  it.each([
    [
      'rules that abort uploads and are enabled',
      {
        status: 200,
        body: `<LifecycleConfiguration>
          <Rule><ID>1</ID><Status>Enabled</Status><Filter><Prefix>a/</Prefix></Filter>
            <AbortIncompleteMultipartUpload><DaysAfterInitiation>3</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>
          <Rule><ID>2</ID><Status>Disabled</Status><Filter><Prefix>b/</Prefix></Filter>
            <AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>
          <Rule><ID>3</ID><Status>Enabled</Status><Filter/><Expiration><Days>9</Days></Expiration></Rule>
          <Rule><ID>4</ID><Status>Enabled</Status><Filter/>
            <AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>
        </LifecycleConfiguration>`,
      },
      [
        { prefix: 'a/', daysAfterInitiation: 3 },
        { prefix: '', daysAfterInitiation: 7 },
      ],
    ],
    [
      'none where there is no configuration',
      { status: 404, body: errorXml('NoSuchLifecycleConfiguration') },
      [],
    ],
    ['undefined where it may not be read', { status: 403, body: errorXml('AccessDenied') }, undefined],
    ['undefined where there is no such call', { status: 501, body: errorXml('NotImplemented') }, undefined],
  ])('lifecycle: %s', async (_, answer, expected) => {
    const { store } = await against([answer]);
    await expect(store.lifecycle('bucket')).resolves.toEqual(expected);
  });
});

describe('S3ObjectStore: credentials from a file', () => {
  const fileWithOldKeys = async (): Promise<{ path: string; write: (id: string) => Promise<void> }> => {
    const directory = await mkdtemp(join(tmpdir(), 'commitbridge-credentials-'));
    stops.push(() => rm(directory, { recursive: true }));
    const path = join(directory, 'credentials');
    const write = (id: string): Promise<void> =>
      writeFile(
        path,
        JSON.stringify({ AccessKeyId: id, SecretAccessKey: `secret of ${id}`, SessionToken: `t-${id}` }),
      );
    await write('OLD');
    return { path, write };
  };

  it('are read again when the store says that they have expired', async () => {
    const { path, write } = await fileWithOldKeys();
    const { store, seen } = await against(
      [{ status: 200 }, { status: 400, body: errorXml('ExpiredToken') }, { status: 204 }],
      { credentials: { kind: 'file', path } },
    );
    await store.abort(upload);
    await write('NEWER');
    await expect(store.abort(upload)).rejects.toMatchObject({ kind: 'expired-credentials' });
    await store.abort(upload);
    const keys = seen.map(({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1]);
    expect(keys).toEqual(['OLD', 'OLD', 'NEWER']);
    expect(seen[2]?.headers['x-amz-security-token']).toBe('t-NEWER');
  });

  it('are read again when the store refuses what was signed before with the old ones', async () => {
    const { path, write } = await fileWithOldKeys();
    const { store, seen } = await against(
      [
        { status: 400, body: errorXml('ExpiredToken') },
        { status: 200, headers: { etag: '"E"' } },
      ],
      { credentials: { kind: 'file', path } },
    );
    const prepared = await store.preparePut(object, {}, 30);
    await write('NEWER');
    const late = store.sendPut(prepared, Buffer.from('x'));
    await expect(late).rejects.toMatchObject({ kind: 'expired-credentials' });
    await store.sendPut(await store.preparePut(object, {}, 30), Buffer.from('x'));
    const queries = seen.map(({ url }) => new URL(url, 'http://host').searchParams);
    expect(queries.map((query) => query.get('X-Amz-Security-Token'))).toEqual(['t-OLD', 't-NEWER']);
  });

  it('a file that is not there is access-denied, by its name', async () => {
    const store = offline({
      credentials: { kind: 'file', path: '/nowhere/credentials' },
      endpoint: 'http://127.0.0.1:9',
    });
    await expect(store.head(object)).rejects.toMatchObject({
      kind: 'access-denied',
      message: expect.stringContaining('/nowhere/credentials') as string,
    });
  });
});

describe('S3ObjectStore: signed URLs', () => {
  it('sign the host alone, and no checksum', async () => {
    const { url, headers } = await offline().presignPart({ ...upload, key: 'a b/c+d%é' }, 7, 600);
    const { host, pathname, searchParams } = new URL(url);
    expect(host).toBe('bucket.s3.eu-west-1.amazonaws.com');
    expect(pathname).toBe('/a%20b/c%2Bd%25%C3%A9');
    expect(headers).toEqual({});
    expect([...searchParams.keys()].sort()).toEqual([
      'X-Amz-Algorithm',
      'X-Amz-Content-Sha256',
      'X-Amz-Credential',
      'X-Amz-Date',
      'X-Amz-Expires',
      'X-Amz-Signature',
      'X-Amz-SignedHeaders',
      'partNumber',
      'uploadId',
    ]);
    expect(searchParams.get('X-Amz-SignedHeaders')).toBe('host');
    expect(searchParams.get('X-Amz-Expires')).toBe('600');
  });

  it('know the address styles of AWS', async () => {
    const host = async (bucket: string, options: Partial<S3StoreOptions> = {}): Promise<string> => {
      const { url } = await offline(options).presignPart({ ...upload, bucket }, 1, 60);
      return url.slice(0, url.indexOf('?'));
    };
    expect(await host('with.dots')).toBe('https://s3.eu-west-1.amazonaws.com/with.dots/k');
    expect(await host('plain', { region: 'cn-north-1' })).toBe(
      'https://plain.s3.cn-north-1.amazonaws.com.cn/k',
    );
    expect(await host('plain', { endpoint: 'http://host:81', pathStyle: true })).toBe(
      'http://host:81/plain/k',
    );
    expect(await host('plain', { endpoint: 'https://host' })).toBe('https://plain.host/k');
  });

  it('end with the credentials', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'commitbridge-credentials-'));
    stops.push(() => rm(directory, { recursive: true }));
    const path = join(directory, 'credentials');
    const endsAtMs = Date.now() + 120_000;
    const expiring = (ms: number): Promise<void> =>
      writeFile(
        path,
        JSON.stringify({
          AccessKeyId: 'A',
          SecretAccessKey: 's',
          SessionToken: 't',
          Expiration: new Date(ms).toISOString(),
        }),
      );
    await expiring(endsAtMs);
    const { url, expiresAtMs } = await offline({ credentials: { kind: 'file', path } }).presignPart(
      upload,
      1,
      600,
    );
    expect(expiresAtMs).toBeLessThanOrEqual(endsAtMs);
    expect(expiresAtMs).toBeGreaterThan(endsAtMs - 5_000);
    expect(new URL(url).searchParams.get('X-Amz-Security-Token')).toBe('t');
    await expiring(Date.now());
    await expect(
      offline({ credentials: { kind: 'file', path } }).presignPart(upload, 1, 600),
    ).rejects.toMatchObject({ kind: 'expired-credentials' });
  });
});
