import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { AccessKey } from '../../support/oss-double/credentials.js';
import type { OssDouble } from '../../support/oss-double/index.js';
import { parseRequest } from '../../support/oss-double/oss-request.js';
import { signatureV1, stringToSignV1 } from '../../support/oss-double/signature-v1.js';

export interface RawReply {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
  /** Of an error. */
  code: string | undefined;
}

export interface RawOptions {
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Instead of the double's own key. */
  accessKey?: AccessKey & { securityToken?: string };
  date?: Date;
  /** Of the Host header, for virtual hosts and CNAMEs. */
  host?: string;
  cnames?: Record<string, string>;
  unsigned?: boolean;
}

/** Requests byte by byte as a test wants them, signed with V1: what no SDK would send. */
export class RawClient {
  constructor(
    private readonly double: Pick<OssDouble, 'port' | 'region' | 'accessKey'>,
    private readonly bucket = 'lake',
  ) {}

  /** `target`: a key with its query, or a query alone. */
  async send(method: string, target: string, options: RawOptions = {}): Promise<RawReply> {
    const request = this.open(method, target, options);
    request.end(options.body);
    return RawClient.reply(request);
  }

  /** With the head sent only: the body is the caller's to write. */
  open(method: string, target: string, options: RawOptions = {}): http.ClientRequest {
    const path = options.host === undefined ? `/${this.bucket}/${target}` : `/${target}`;
    const headers: Record<string, string> = {
      host: options.host ?? `127.0.0.1:${this.double.port}`,
      date: (options.date ?? new Date()).toUTCString(),
      ...options.headers,
    };
    const key = options.accessKey ?? this.double.accessKey;
    if (options.accessKey?.securityToken !== undefined) {
      headers['x-oss-security-token'] = options.accessKey.securityToken;
    }
    if (options.unsigned !== true)
      headers['authorization'] = this.authorization(method, path, headers, key, options);
    if (options.body !== undefined) headers['content-length'] = String(Buffer.byteLength(options.body));
    const request = http.request({
      port: this.double.port,
      host: '127.0.0.1',
      method,
      path,
      headers,
      agent: false,
    });
    request.on('error', () => undefined);
    return request;
  }

  static async reply(request: http.ClientRequest): Promise<RawReply> {
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      request.on('response', resolve);
      request.on('error', reject);
    });
    const body = (await buffer(response)).toString();
    const code = /<Error>.*<Code>(\w+)<\/Code>/s.exec(body)?.[1];
    return { status: response.statusCode ?? 0, headers: response.headers, body, code };
  }

  private authorization(
    method: string,
    path: string,
    headers: Record<string, string>,
    key: AccessKey,
    options: RawOptions,
  ): string {
    const request = parseRequest(method, path, headers, {
      region: this.double.region,
      pathStyle: 'allowed',
      cnames: new Map(Object.entries(options.cnames ?? {})),
    });
    const stringToSign = stringToSignV1(request, headers['date'] ?? '');
    return `OSS ${key.accessKeyId}:${signatureV1(key.accessKeySecret, stringToSign)}`;
  }

  // --- what several tests do ---

  async initiate(key: string): Promise<string> {
    const { body } = await this.send('POST', `${key}?uploads`);
    return /<UploadId>(\w+)</.exec(body)?.[1] ?? '';
  }

  async part(key: string, uploadId: string, partNumber: number, body: string | Buffer): Promise<RawReply> {
    return this.send('PUT', `${key}?partNumber=${partNumber}&uploadId=${uploadId}`, { body });
  }

  async complete(
    key: string,
    uploadId: string,
    parts: readonly (readonly [number, string | undefined])[],
    options: RawOptions = {},
  ): Promise<RawReply> {
    const list = parts.map(
      ([n, etag]) => `<Part><PartNumber>${n}</PartNumber><ETag>${etag ?? ''}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
    return this.send('POST', `${key}?uploadId=${uploadId}`, { body, ...options });
  }
}

/** The texts of all elements of a name, in their order. */
export function texts(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text]) => text ?? '');
}
