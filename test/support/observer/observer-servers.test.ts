import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Client, startS3Proxy, startVersityGw, type S3Server } from '../servers/index.js';
import { Observer, StoreReader } from './index.js';

const Bucket = 'observed';

describe.each([
  ['s3proxy', startS3Proxy],
  ['versitygw', startVersityGw],
])('Observer in front of %s', (_name, start) => {
  let server: S3Server;
  let observer: Observer;
  let client: S3Client;
  let reader: StoreReader;

  beforeAll(async () => {
    server = await start();
    observer = await Observer.start({ endpoint: server.endpoint });
    client = s3Client({ ...server, endpoint: observer.endpoint });
    reader = new StoreReader(server, Bucket);
    await reader.createBucket();
  }, 600_000);

  afterAll(async () => {
    client?.destroy();
    reader?.close();
    await observer?.stop();
    await server?.stop();
  });

  it('lets signed requests of every kind through and counts them', async () => {
    const Key = 'dir/p=1/a b+c';
    await client.send(new PutObjectCommand({ Bucket, Key: 'other', Body: 'x', ChecksumAlgorithm: 'CRC32' }));
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const upload = { Bucket, Key, UploadId };
    const part = await client.send(
      new UploadPartCommand({ ...upload, PartNumber: 1, Body: Buffer.alloc(6e6) }),
    );
    expect((await client.send(new ListPartsCommand(upload))).Parts).toHaveLength(1);
    expect(await reader.listUploads('dir/')).toEqual([{ key: Key, uploadId: UploadId }]);
    expect((await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toHaveLength(1);
    const parts = { Parts: [{ PartNumber: 1, ETag: part.ETag }] };
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: parts }));
    expect((await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength).toBe(6e6);
    await client.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/other` }));
    const body = (await client.send(new GetObjectCommand({ Bucket, Key: 'copy' }))).Body;
    expect(await body?.transformToString()).toBe('x');
    await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'copy' }] } }));
    expect(observer.counts()).toEqual({
      initiate: 1,
      part: 1,
      complete: 1,
      put: 1,
      get: 1,
      head: 1,
      list_uploads: 1,
      list_parts: 1,
      delete_many: 1,
      copy: 1,
    });
    expect(observer.select({ kind: 'complete' })[0]).toMatchObject({ bucket: Bucket, key: Key, status: 200 });
    expect(await reader.listObjects()).toEqual([
      { key: Key, sizeBytes: 6e6 },
      { key: 'other', sizeBytes: 1 },
    ]);
    expect((await reader.getObject('other'))?.toString()).toBe('x');
    expect(await reader.getObject('none')).toBeUndefined();
  });

  it('survives a server that is killed and restarted', async () => {
    server.kill();
    await server.restart();
    expect((await reader.getObject('other'))?.toString()).toBe('x');
  });

  it('lists and purges uploads of one key and of many', async () => {
    for (const Key of ['many/a', 'many/b', 'many/b', 'many/c']) {
      await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    }
    for (const pageSize of [1000, 3, 2]) {
      const keys = (await reader.listUploads('many/', pageSize)).map(({ key }) => key);
      expect(keys).toEqual(['many/a', 'many/b', 'many/b', 'many/c']);
    }
    await reader.purge();
    expect(await reader.listUploads()).toEqual([]);
    expect(await reader.listObjects()).toEqual([]);
  });
});
