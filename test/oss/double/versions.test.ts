import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OssDouble } from '../../support/oss-double/index.js';
import { RawClient, texts } from './raw-client.js';

const once = { headers: { 'x-oss-forbid-overwrite': 'true' } };
let double: OssDouble;
let client: RawClient;

beforeEach(async () => {
  double = await OssDouble.start({ buckets: ['lake'] });
  client = new RawClient(double);
});

afterEach(async () => {
  await double.stop();
});

async function versioning(status: 'Enabled' | 'Suspended'): Promise<void> {
  const body = `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`;
  expect((await client.send('PUT', '?versioning', { body })).status).toBe(200);
}

describe('versioning of the double of OSS', () => {
  it('says Enabled, Suspended, or nothing in a bucket that never had it', async () => {
    const status = async (): Promise<string[]> =>
      texts((await client.send('GET', '?versioning')).body, 'Status');
    expect(await status()).toEqual([]);
    await versioning('Enabled');
    expect(await status()).toEqual(['Enabled']);
    await versioning('Suspended');
    expect(await status()).toEqual(['Suspended']);
  });

  it('without it a second conditional PUT is refused; enabled or suspended the condition is ignored', async () => {
    expect((await client.send('PUT', 'k', { ...once, body: '1' })).status).toBe(200);
    expect(await client.send('PUT', 'k', { ...once, body: '2' })).toMatchObject({
      status: 409,
      code: 'FileAlreadyExists',
    });
    for (const status of ['Enabled', 'Suspended'] as const) {
      await versioning(status);
      expect((await client.send('PUT', 'k', { ...once, body: status })).status).toBe(200);
      expect((await client.send('GET', 'k')).body).toBe(status);
      const id = await client.initiate('k');
      const part = await client.part('k', id, 1, `${status} by parts`);
      expect((await client.complete('k', id, [[1, part.headers.etag]], once)).status).toBe(200);
      expect((await client.send('GET', 'k')).body).toBe(`${status} by parts`);
    }
  });

  it('enabled: every write is a version, a deletion leaves a marker, and versions can be deleted', async () => {
    await versioning('Enabled');
    const [one, two] = [
      await client.send('PUT', 'k', { body: '1' }),
      await client.send('PUT', 'k', { body: '2' }),
    ];
    const gone = await client.send('DELETE', 'k');
    expect(gone).toMatchObject({ status: 204, headers: { 'x-oss-delete-marker': 'true' } });
    const [v1, v2, marker] = [one, two, gone].map(({ headers }) => String(headers['x-oss-version-id']));
    expect(new Set([v1, v2, marker, 'undefined']).size).toBe(4);
    expect(await client.send('GET', 'k')).toMatchObject({
      status: 404,
      code: 'NoSuchKey',
      headers: { 'x-oss-delete-marker': 'true' },
    });
    expect(texts((await client.send('GET', '')).body, 'Key')).toEqual([]);
    expect((await client.send('GET', `k?versionId=${v1}`)).body).toBe('1');
    expect(await client.send('GET', `k?versionId=${marker}`)).toMatchObject({
      status: 405,
      code: 'MethodNotAllowed',
    });
    expect(await client.send('GET', 'k?versionId=none')).toMatchObject({
      status: 404,
      code: 'NoSuchVersion',
    });
    expect(texts((await client.send('GET', '?versions')).body, 'VersionId')).toEqual([marker, v2, v1]);
    await client.send('DELETE', `k?versionId=${marker}`);
    expect((await client.send('GET', 'k')).body).toBe('2');
    await client.send('DELETE', `k?versionId=${v2}`);
    expect((await client.send('GET', 'k')).body).toBe('1');
  });

  it('suspended: what is written replaces the null version alone', async () => {
    await client.send('PUT', 'k', { body: 'null 1' });
    await versioning('Enabled');
    const written = await client.send('PUT', 'k', { body: 'version' });
    const version = String(written.headers['x-oss-version-id']);
    await versioning('Suspended');
    expect((await client.send('PUT', 'k', { body: 'null 2' })).headers['x-oss-version-id']).toBe('null');
    expect(texts((await client.send('GET', '?versions')).body, 'VersionId')).toEqual(['null', version]);
    expect((await client.send('GET', 'k?versionId=null')).body).toBe('null 2');
    await client.send('DELETE', 'k');
    expect((await client.send('GET', 'k')).status).toBe(404);
    expect((await client.send('GET', `k?versionId=${version}`)).body).toBe('version');
  });

  it('lists versions by pages, each from both markers on', async () => {
    await versioning('Enabled');
    const wanted: string[] = [];
    for (const key of ['a', 'b', 'c']) {
      const ids: string[] = [];
      for (let i = 0; i < 3; i++)
        ids.unshift(String((await client.send('PUT', key, { body: '' })).headers['x-oss-version-id']));
      wanted.push(...ids);
    }
    const listed: string[] = [];
    for (let more = ''; ;) {
      const { body } = await client.send('GET', `?versions&max-keys=2${more}`);
      listed.push(...texts(body, 'VersionId'));
      if (texts(body, 'IsTruncated')[0] === 'false') break;
      more = `&key-marker=${texts(body, 'NextKeyMarker')[0]}&version-id-marker=${texts(body, 'NextVersionIdMarker')[0]}`;
    }
    expect(listed).toEqual(wanted);
  });
});
