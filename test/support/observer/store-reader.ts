import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type ListMultipartUploadsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { TableReader, type ListedObject, type ListedUpload } from './table-reader.js';
import { s3Client, type S3Access } from '../servers/s3-server.js';

/** An independent client that says what a server holds; it shares nothing with the code under test. */
export class StoreReader extends TableReader {
  private readonly client: S3Client;

  constructor(
    server: S3Access,
    readonly bucket: string,
  ) {
    super();
    this.client = s3Client(server);
  }

  async createBucket(): Promise<void> {
    await this.client.send(new CreateBucketCommand({ Bucket: this.bucket }));
  }

  /** All objects under a prefix, in the order of their keys. */
  async listObjects(prefix = ''): Promise<ListedObject[]> {
    const objects: ListedObject[] = [];
    let token: string | undefined;
    do {
      const page = await this.client.send(
        new ListObjectsV2Command({ Bucket: this.bucket, Prefix: prefix, ContinuationToken: token }),
      );
      for (const { Key, Size } of page.Contents ?? []) {
        if (Key !== undefined) objects.push({ key: Key, sizeBytes: Size ?? 0 });
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
    return objects;
  }

  /** All open multipart uploads under a prefix. */
  async listUploads(prefix = '', pageSize = 1000): Promise<ListedUpload[]> {
    const uploads = new Map<string, ListedUpload>();
    let marker: { KeyMarker?: string; UploadIdMarker?: string } = {};
    for (;;) {
      const page = await this.uploadsPage(prefix, pageSize, marker);
      for (const upload of uploadsOf(page)) uploads.set(upload.uploadId, upload);
      if (page.IsTruncated !== true || page.NextKeyMarker === undefined) break;
      if (marker.UploadIdMarker === undefined && marker.KeyMarker === page.NextKeyMarker) break; // no progress
      marker = { KeyMarker: page.NextKeyMarker };
      if (page.NextUploadIdMarker !== undefined) marker.UploadIdMarker = page.NextUploadIdMarker;
    }
    return [...uploads.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  private async uploadsPage(
    prefix: string,
    pageSize: number,
    marker: { KeyMarker?: string; UploadIdMarker?: string },
  ): Promise<ListMultipartUploadsCommandOutput> {
    const request = { Bucket: this.bucket, Prefix: prefix, MaxUploads: pageSize };
    try {
      return await this.client.send(new ListMultipartUploadsCommand({ ...request, ...marker }));
    } catch (error) {
      const refused =
        (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 400;
      if (!refused || marker.UploadIdMarker === undefined || marker.KeyMarker === undefined) throw error;
    }
    // versitygw answers 400 to an upload id marker, and a key marker alone skips what is left of that key. So ask
    // for that key's uploads apart.
    const [rest, page] = await Promise.all([
      this.client.send(new ListMultipartUploadsCommand({ Bucket: this.bucket, Prefix: marker.KeyMarker })),
      this.client.send(new ListMultipartUploadsCommand({ ...request, KeyMarker: marker.KeyMarker })),
    ]);
    const ofKey = (rest.Uploads ?? []).filter((upload) => upload.Key === marker.KeyMarker);
    return { ...page, Uploads: [...ofKey, ...(page.Uploads ?? [])] };
  }

  /** The bytes of an object, or undefined when there is none. */
  async getObject(key: string): Promise<Buffer | undefined> {
    try {
      const answer = await this.client.send(new GetObjectCommand({ Bucket: this.bucket, Key: key }));
      return Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
    } catch (error) {
      if ((error as Error).name === 'NoSuchKey') return undefined;
      throw error;
    }
  }

  /** Deletes all objects and aborts all uploads under a prefix: for cleaning up between tests. */
  async purge(prefix = ''): Promise<void> {
    for (const { key } of await this.listObjects(prefix)) {
      await this.client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key: key }));
    }
    for (const { key, uploadId } of await this.listUploads(prefix)) {
      await this.client.send(
        new AbortMultipartUploadCommand({ Bucket: this.bucket, Key: key, UploadId: uploadId }),
      );
    }
  }

  close(): void {
    this.client.destroy();
  }
}

function uploadsOf(page: ListMultipartUploadsCommandOutput): ListedUpload[] {
  return (page.Uploads ?? []).flatMap(({ Key, UploadId }) =>
    Key === undefined || UploadId === undefined ? [] : [{ key: Key, uploadId: UploadId }],
  );
}
