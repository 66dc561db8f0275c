import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OssDouble } from '../../support/oss-double/index.js';
import { RawClient, texts } from './raw-client.js';

const minPart = 100 * 1024;
let double: OssDouble;
let client: RawClient;

beforeEach(async () => {
  double = await OssDouble.start({ buckets: ['lake'] });
  client = new RawClient(double);
});

afterEach(async () => {
  await double.stop();
});

const etagOf = async (uploadId: string, n: number, size = 1): Promise<[number, string | undefined]> => [
  n,
  (await client.part('k', uploadId, n, Buffer.alloc(size, n))).headers.etag,
];

describe('multipart uploads of the double of OSS', () => {
  it('checks the least part size at Complete only, and leaves the upload open', async () => {
    const id = await client.initiate('k');
    const parts = [await etagOf(id, 1, minPart - 1), await etagOf(id, 2)];
    const refused = await client.complete('k', id, parts);
    expect(refused).toMatchObject({ status: 400, code: 'EntityTooSmall' });
    expect(refused.headers['x-oss-ec']).toBe('0042-00000213');
    expect(texts(refused.body, 'MinSizeAllowed')).toEqual(['102400']);
    parts[0] = await etagOf(id, 1, minPart);
    expect((await client.complete('k', id, parts)).status).toBe(200);
  });

  it('takes gaps and a small last part, at the very numbers 1 and 10,000', async () => {
    const id = await client.initiate('k');
    const done = await client.complete('k', id, [await etagOf(id, 1, minPart), await etagOf(id, 10_000)]);
    expect(texts(done.body, 'ETag')[0]).toMatch(/^&quot;[0-9A-F]{32}-2&quot;$/);
    for (const n of [0, 10_001]) {
      expect(await client.part('k', id, n, 'x')).toMatchObject({ status: 400, code: 'InvalidArgument' });
    }
  });

  it('wants the parts in order, once each, and as they were', async () => {
    const id = await client.initiate('k');
    const [one, two] = [await etagOf(id, 1, minPart), await etagOf(id, 2)];
    for (const [parts, code] of [
      [[two, one], 'InvalidPartOrder'],
      [[one, one], 'InvalidPartOrder'],
      [[one, [3, two[1]]], 'InvalidPart'],
      [[one, [2, one[1]]], 'InvalidPart'],
      [[], 'MalformedXML'],
    ] as const) {
      expect(await client.complete('k', id, parts)).toMatchObject({ status: 400, code });
    }
    for (const body of [
      '',
      '<CompleteMultipartUpload>',
      '<Other/>',
      '<CompleteMultipartUpload><Part/></CompleteMultipartUpload>',
    ]) {
      const reply = await client.send('POST', `k?uploadId=${id}`, { body });
      expect(reply).toMatchObject({ status: 400, code: 'MalformedXML' });
    }
    expect((await client.send('HEAD', 'k')).status).toBe(404);
  });

  it('completes with all parts it has, when asked with an empty body', async () => {
    const id = await client.initiate('k');
    await etagOf(id, 2);
    await etagOf(id, 1, minPart);
    const all = { headers: { 'x-oss-complete-all': 'yes' } };
    expect(await client.complete('k', id, [], all)).toMatchObject({ status: 400, code: 'InvalidArgument' });
    const storage = { headers: { 'x-oss-storage-class': 'IA' } };
    expect(await client.complete('k', id, [[1, 'x']], storage)).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
    });
    expect((await client.send('POST', `k?uploadId=${id}`, { ...all, body: '' })).status).toBe(200);
    expect((await client.send('HEAD', 'k')).headers['content-length']).toBe(String(minPart + 1));
  });

  it.each(['complete', 'abort'])('an id is dead after %s', async (end) => {
    const id = await client.initiate('k');
    const parts = [await etagOf(id, 1)];
    const ended =
      end === 'abort'
        ? await client.send('DELETE', `k?uploadId=${id}`)
        : await client.complete('k', id, parts);
    expect(ended.status).toBe(end === 'abort' ? 204 : 200);
    const gone = { status: 404, code: 'NoSuchUpload' };
    expect(await client.complete('k', id, parts)).toMatchObject(gone);
    expect(await client.send('DELETE', `k?uploadId=${id}`)).toMatchObject(gone);
    expect(await client.send('GET', `k?uploadId=${id}`)).toMatchObject(gone);
    expect(await client.part('k', id, 1, 'x')).toMatchObject(gone);
    expect((await client.send('HEAD', 'k')).status).toBe(end === 'abort' ? 404 : 200);
    expect(texts((await client.send('GET', '?uploads')).body, 'UploadId')).toEqual([]);
  });

  it('an id is of its key', async () => {
    const id = await client.initiate('k');
    expect(await client.part('other', id, 1, 'x')).toMatchObject({ status: 404, code: 'NoSuchUpload' });
  });

  it.each(['by a slow body', 'inside the store'])(
    'a part in flight %s lands after the abort',
    async (how) => {
      const id = await client.initiate('k');
      const target = `k?partNumber=1&uploadId=${id}`;
      const hold = how === 'inside the store' ? double.holdDuring({ kind: 'part' }) : undefined;
      const request = client.open('PUT', target, { headers: { 'content-length': '4' } });
      request.write('pa');
      const landed = RawClient.reply(request);
      if (hold === undefined) await double.seen({ kind: 'part' });
      else {
        request.end('rt');
        await hold.held;
      }
      expect((await client.send('DELETE', `k?uploadId=${id}`)).status).toBe(204);
      if (hold === undefined) request.end('rt');
      else hold.release();
      expect((await landed).status).toBe(200);
      expect(texts((await client.send('GET', `k?uploadId=${id}`)).body, 'PartNumber')).toEqual(['1']);
      const complete = await client.complete('k', id, [[1, (await landed).headers.etag]]);
      expect(complete).toMatchObject({ status: 404, code: 'NoSuchUpload' });
      expect(await client.part('k', id, 2, 'x')).toMatchObject({ status: 404, code: 'NoSuchUpload' });
      expect((await client.send('DELETE', `k?uploadId=${id}`)).status).toBe(204);
      expect((await client.send('GET', `k?uploadId=${id}`)).status).toBe(404);
    },
  );

  it('forbids overwriting at Initiate and Complete, and then leaves the upload open', async () => {
    const id = await client.initiate('k');
    const parts = [await etagOf(id, 1)];
    await client.send('PUT', 'k', { body: 'first' });
    const once = { headers: { 'x-oss-forbid-overwrite': 'true' } };
    const exists = { status: 409, code: 'FileAlreadyExists' };
    expect(await client.send('POST', 'k?uploads', once)).toMatchObject(exists);
    expect(await client.complete('k', id, parts, once)).toMatchObject(exists);
    expect((await client.send('GET', 'k')).body).toBe('first');
    expect((await client.complete('k', id, parts)).status).toBe(200);
  });

  it('goes on when the client has gone', async () => {
    const id = await client.initiate('k');
    const [part] = [await etagOf(id, 1)];
    double.latencyMs = 100;
    const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part[1]}</ETag></Part></CompleteMultipartUpload>`;
    const request = client.open('POST', `k?uploadId=${id}`, { body });
    request.end(body);
    await double.seen({ kind: 'complete' });
    await new Promise((resolve) => setTimeout(resolve, 30));
    request.destroy();
    await double.idle(150);
    double.latencyMs = 0;
    expect((await client.send('HEAD', 'k')).status).toBe(200);
    expect(double.select({ kind: 'complete' })[0]).toMatchObject({ status: 200, outcome: 'sender_gone' });
  });

  it('limits keys to 1,023 bytes', async () => {
    expect(
      (await client.send('PUT', 'é'.repeat(511).replaceAll('é', '%C3%A9') + 'x', { body: '' })).status,
    ).toBe(200);
    for (const key of ['%C3%A9'.repeat(512), '/a', '%5Ca']) {
      expect(await client.send('PUT', key, { body: '' })).toMatchObject({
        status: 400,
        code: 'InvalidObjectName',
      });
      expect(await client.send('POST', `${key}?uploads`)).toMatchObject({
        status: 400,
        code: 'InvalidObjectName',
      });
    }
  });
});
