import OSS from 'ali-oss';
import type { RequestParams } from 'ali-oss';
import type { Clock } from '../../ports/clock.js';
import { StoreError } from '../../ports/object-store.js';
import { credentialsSource, type OssCredentials, type OssCredentialsSource } from './oss-credentials.js';
import { failureOf } from './oss-errors.js';
import { DEFAULT_MAX_SOCKETS, endpointOf, plainRegion, type OssStoreOptions } from './oss-options.js';
import { OssSender, type NoAnswer, type OssAnswer } from './oss-sender.js';
import { presignUrl, type RequestToSign } from './oss-signer.js';
import { assumeRole, type AssumeRole } from './sts-credentials.js';

export interface OssRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly bucket: string;
  readonly key?: string;
  /** Query parameters that the signature V1 covers. */
  readonly subresources?: Readonly<Record<string, string>>;
  /** The others. Empty ones aren't sent: ali-oss signs them wrongly with V4. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: Uint8Array;
  /** Parts go without: the digest costs more than sending. */
  readonly withMd5?: boolean;
  readonly asStream?: boolean;
  /** The answer is XML, which says whether a 200 is a success. */
  readonly isXml?: boolean;
}

export interface SignedOssRequest {
  readonly url: string;
  readonly expiresAtMs: number;
}

/** Answers tell the time in whole seconds: less than this says nothing. */
const MIN_SKEW_MS = 2_000;

/** ali-oss with its sockets and credentials, and the way every call goes. */
export class OssConnection {
  private readonly client: OSS;
  private readonly sender: OssSender;
  private readonly source: OssCredentialsSource;
  /** What the store's clock is ahead of this machine's. */
  private skewMs = 0;

  constructor(
    private readonly options: OssStoreOptions,
    private readonly clock: Clock,
    assume: AssumeRole = assumeRole,
  ) {
    const addressing = options.addressing ?? 'virtual-host';
    this.source = credentialsSource(options.credentials, clock, assume);
    this.sender = new OssSender({
      maxSockets: options.maxSockets ?? DEFAULT_MAX_SOCKETS,
      connectTimeoutMs: options.connectTimeoutMs,
      keepsHost: addressing === 'virtual-host',
    });
    this.client = new OSS({
      // ali-oss wants some; every request brings its own.
      accessKeyId: 'none',
      accessKeySecret: 'none',
      region: `oss-${plainRegion(options.region)}`,
      endpoint: endpointOf(options),
      cname: addressing === 'cname',
      sldEnable: addressing === 'path',
      authorizationV4: options.signature !== 'v1',
      urllib: this.sender,
    });
  }

  /** Runs one request; a failure is a {@link StoreError}, also one in the body of a 200. */
  async send(request: OssRequest, signal: AbortSignal | undefined): Promise<OssAnswer> {
    refuseAborted(signal);
    const credentials = await this.source.get();
    // The role may have taken longer than the caller waits.
    refuseAborted(signal);
    const { accessKeyId, accessKeySecret, securityToken } = credentials;
    const signing = { accessKeyId, accessKeySecret, stsToken: securityToken, amendTimeSkewed: this.skewMs };
    Object.assign(this.client.options, signing);
    // Between the assignment and the signature nothing is awaited.
    const answer = (await this.client.request(paramsOf(request, signal))) as OssAnswer | NoAnswer;
    if ('failure' in answer) throw answer.failure;
    return this.judged(answer, request.isXml === true, credentials);
  }

  /** The XML of an answer, its root element left out. An empty text is an answer that broke off. */
  async sendForXml(
    request: OssRequest,
    signal: AbortSignal | undefined,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { body, status } = await this.send({ ...request, isXml: true }, signal);
    const parsed = await this.client.parseXML(body).catch((cause: unknown) => {
      throw new StoreError('unavailable', 'the answer is no XML', { status, cause });
    });
    // An element without children is read as a text.
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  }

  /** Sends what {@link presign} signed. */
  async sendSigned(
    request: {
      readonly method: 'PUT' | 'DELETE';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: Uint8Array;
    },
    signal: AbortSignal | undefined,
  ): Promise<OssAnswer> {
    refuseAborted(signal);
    const { url, method, body } = request;
    const headers: Record<string, string | number> = { ...request.headers };
    if (method === 'PUT') headers['content-length'] = body?.byteLength ?? 0;
    const answer = await this.sender.send(url, { method, headers, content: body, ctx: { signal } });
    return this.judged(answer, false, undefined);
  }

  async presign(request: RequestToSign, expiresInSeconds: number): Promise<SignedOssRequest> {
    const credentials = await this.source.get();
    const nowMs = this.clock.nowMs();
    const leftMs = credentials.expiration === undefined ? Infinity : credentials.expiration.getTime() - nowMs;
    const seconds = Math.floor(Math.min(expiresInSeconds, leftMs / 1_000));
    if (seconds < 1) {
      throw new StoreError('expired-credentials', 'the credentials end before the signed URL could be used');
    }
    const url = presignUrl(this.client, request, credentials, {
      version: this.options.signature ?? 'v4',
      region: plainRegion(this.options.region),
      nowMs: nowMs + this.skewMs,
      expiresInSeconds: seconds,
    });
    return { url, expiresAtMs: nowMs + seconds * 1_000 };
  }

  close(): void {
    this.sender.close();
  }

  private judged(answer: OssAnswer, isXml: boolean, credentials: OssCredentials | undefined): OssAnswer {
    this.learnTime(answer);
    const { status, headers, body } = answer;
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess && !(isXml && isError(body))) return answer;
    const error = failureOf(
      { status, headers, body: body.toString() },
      credentials?.securityToken !== undefined,
    );
    if (error.kind === 'expired-credentials' && credentials !== undefined) this.source.refused(credentials);
    throw error;
  }

  private learnTime({ headers }: OssAnswer): void {
    const storeMs = Date.parse(headers['date'] ?? '');
    if (Number.isNaN(storeMs)) return;
    // In the middle of the second that it tells.
    const skewMs = storeMs + 500 - this.clock.nowMs();
    this.skewMs = Math.abs(skewMs) < MIN_SKEW_MS ? 0 : skewMs;
  }
}

function paramsOf(request: OssRequest, signal: AbortSignal | undefined): RequestParams {
  const { method, bucket, key, subresources, body, withMd5 = false, asStream } = request;
  return {
    method,
    bucket,
    // Not by `_objectRequestParams`, which strips leading slashes.
    object: key,
    subres: subresources,
    query: withoutEmpty(request.query),
    headers: {
      // ali-oss would guess one from the key.
      ...(method === 'PUT' || method === 'POST' ? { 'Content-Type': 'application/octet-stream' } : {}),
      ...withoutEmpty(request.headers),
    },
    content: body,
    disabledMD5: !withMd5,
    ctx: { signal, asStream },
  };
}

function withoutEmpty(
  values: Readonly<Record<string, string | undefined>> = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
    ),
  );
}

/** A Complete may fail after its 200 was sent: then the body says so. */
function isError(body: Buffer): boolean {
  return body.length === 0 || /^\s*(?:<\?xml[^>]*\?>)?\s*<Error[\s>]/.test(body.toString('utf8', 0, 256));
}

function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) {
    throw new StoreError('cancelled', 'the call was cancelled', { cause: signal.reason });
  }
}
