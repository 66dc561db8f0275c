import OSS, { type RequestParams } from 'ali-oss';
import { TableReader, type ListedObject, type ListedUpload } from '../observer/index.js';
import type { S3Access } from '../servers/index.js';

/** Says what a bucket of OSS holds, by ali-oss alone: up to a page of each. */
export class OssReader extends TableReader {
  private readonly client: OSS;

  constructor(
    { endpoint, region, accessKey, secretKey }: S3Access,
    readonly bucket: string,
  ) {
    super();
    this.client = new OSS({
      ...{ accessKeyId: accessKey, accessKeySecret: secretKey, region: `oss-${region}`, endpoint },
      ...{ cname: false, sldEnable: true, authorizationV4: true },
      urllib: { request: sendByFetch },
    });
  }

  async listObjects(prefix = ''): Promise<ListedObject[]> {
    const found = await this.ask({ query: { 'list-type': '2', 'max-keys': '1000', ...given(prefix) } });
    return elements(found, 'Contents').map(({ Key, Size }) => ({ key: Key ?? '', sizeBytes: Number(Size) }));
  }

  async listUploads(prefix = ''): Promise<ListedUpload[]> {
    const found = await this.ask({ subres: { uploads: '' }, query: given(prefix) });
    return elements(found, 'Upload').map(({ Key, UploadId }) => ({
      key: Key ?? '',
      uploadId: UploadId ?? '',
    }));
  }

  async getObject(key: string): Promise<Buffer | undefined> {
    const { status, data } = await this.send({ object: key });
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`The store answered ${status} to a GET of ${key}.`);
    return data;
  }

  close(): void {
    // `fetch` keeps its own connections.
  }

  private async ask(params: Partial<RequestParams>): Promise<Record<string, unknown>> {
    const { status, data } = await this.send(params);
    if (status !== 200) throw new Error(`The store answered ${status}: ${data.toString()}`);
    const found = (await this.client.parseXML(data)) as Record<string, unknown>;
    if (found['IsTruncated'] !== 'false') throw new Error('There is more than a page of it.');
    return found;
  }

  private async send(params: Partial<RequestParams>): Promise<{ status: number; data: Buffer }> {
    const request = { method: 'GET', bucket: this.bucket, headers: {}, ...params };
    return (await this.client.request(request)) as { status: number; data: Buffer };
  }
}

function given(prefix: string): Record<string, string> {
  return prefix === '' ? {} : { prefix };
}

function elements(found: Record<string, unknown>, name: string): Record<string, string | undefined>[] {
  const list = found[name] ?? [];
  return (Array.isArray(list) ? list : [list]) as Record<string, string | undefined>[];
}

async function sendByFetch(
  url: string,
  { method, headers }: { method: string; headers: Record<string, string | number> },
): Promise<unknown> {
  // ali-oss names OSS's own host where the endpoint is an IP address.
  const { host: _, ...others } = headers;
  const answer = await fetch(url, { method, headers: others as Record<string, string> });
  return { status: answer.status, data: Buffer.from(await answer.arrayBuffer()) };
}
