import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import OSS from 'ali-oss';
import type { Clock } from '../../ports/clock.js';
import { StoreError } from '../../ports/object-store.js';
import { headerOf, LeanTransport, type HttpAnswer, type HttpRequest } from '../lean-transport.js';
import { encodeKey, encodeQuery } from '../url-encoding.js';
import { OssAddresses } from './oss-addresses.js';
import { credentialsSource, type OssCredentials, type OssCredentialsSource } from './oss-credentials.js';
import { failureOf, networkError } from './oss-errors.js';
import { endpointOf, plainRegion, type OssStoreOptions } from './oss-options.js';
import { OssSigner, type RequestToSign } from './oss-signer.js';
import { assumeRole, type AssumeRole } from './sts-credentials.js';

export interface OssRequest {
  readonly method: HttpRequest['method'];
  readonly bucket: string;
  readonly key?: string;
  /** Query parameters that the signature V1 covers. */
  readonly subresources?: Readonly<Record<string, string>>;
  /** The others. Empty ones aren't sent. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Parts go without: the digest costs more than sending. */
  readonly withMd5?: boolean;
  /** The answer is XML, which says whether a 200 is a success. */
  readonly isXml?: boolean;
  /** An answer that is no success, and no failure either. */
  readonly isExpected?: (answer: HttpAnswer) => boolean;
}

export interface SignedOssRequest {
  readonly url: string;
  readonly expiresAtMs: number;
  readonly signedBy: OssCredentials;
}

/** Answers tell the time in whole seconds: less than this says nothing. */
const MIN_SKEW_MS = 2_000;

/** Sockets, credentials and the store's clock, and the way every call goes. */
export class OssConnection {
  private readonly client: OSS;
  private readonly transport: LeanTransport;
  private readonly addresses: OssAddresses;
  private readonly signer: OssSigner;
  private readonly source: OssCredentialsSource;
  /** What the store's clock is ahead of this machine's. */
  private skewMs = 0;

  constructor(
    options: OssStoreOptions,
    private readonly clock: Clock,
    assume: AssumeRole = assumeRole,
  ) {
    const addressing = options.addressing ?? 'virtual-host';
    const region = plainRegion(options.region);
    this.source = credentialsSource(options.credentials, clock, assume);
    this.transport = new LeanTransport(options, clock);
    this.signer = new OssSigner(options.signature ?? 'v4', region);
    this.client = new OSS({
      // ali-oss wants some, and sends nothing.
      accessKeyId: 'none',
      accessKeySecret: 'none',
      region: `oss-${region}`,
      endpoint: endpointOf(options),
      cname: addressing === 'cname',
      sldEnable: addressing === 'path',
    });
    this.addresses = new OssAddresses(this.client, options);
  }

  /** Runs one request; a failure is a {@link StoreError}, also one in the body of a 200. */
  async send(request: OssRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    const { signed, credentials } = await this.sign(request, signal);
    const answer = await this.exchange(signed, signal);
    if (request.isExpected?.(answer) === true) return answer;
    return this.judged(answer, request.isXml === true, credentials);
  }

  /** The same, with an answer that needn't fit in memory. */
  async stream(request: OssRequest, signal: AbortSignal | undefined): Promise<Readable> {
    const { signed, credentials } = await this.sign(request, signal);
    const answer = await this.transport.stream(signed, signal).catch((error: unknown) => {
      throw networkError(error, signal);
    });
    this.learnTime(answer);
    if (isSuccess(answer)) return answer.body;
    const body = await buffer(answer.body).catch((error: unknown) => {
      throw networkError(error, signal);
    });
    this.judged({ ...answer, body }, false, credentials);
    throw new StoreError('unavailable', 'the answer has no body');
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
      readonly signedBy?: unknown;
    },
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    refuseAborted(signal);
    const { url, signedBy, ...rest } = request;
    // Not by `URL`, which would fold `..` in the path and so change the key.
    const [, origin = '', path = ''] = /^(https?:\/\/[^/]*)(\/.*)$/s.exec(url) ?? [];
    const answer = await this.exchange({ ...rest, origin, path }, signal);
    return this.judged(answer, false, signedBy as OssCredentials | undefined);
  }

  async presign(request: RequestToSign, expiresInSeconds: number): Promise<SignedOssRequest> {
    const credentials = await this.source.get();
    const nowMs = this.clock.nowMs();
    const leftMs = credentials.expiration === undefined ? Infinity : credentials.expiration.getTime() - nowMs;
    const seconds = Math.floor(Math.min(expiresInSeconds, leftMs / 1_000));
    if (seconds < 1) {
      throw new StoreError('expired-credentials', 'the credentials end before the signed URL could be used');
    }
    const query = this.signer.presign(request, credentials, nowMs + this.skewMs, seconds);
    const { origin, basePath } = this.addresses.of(request.bucket);
    const url = `${origin}${basePath}${encodeKey(request.key)}${encodeQuery(query)}`;
    return { url, expiresAtMs: nowMs + seconds * 1_000, signedBy: credentials };
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  private async sign(
    request: OssRequest,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly signed: HttpRequest; readonly credentials: OssCredentials }> {
    refuseAborted(signal);
    const credentials = await this.source.get();
    // The role may have taken longer than the caller waits.
    refuseAborted(signal);
    const { method, bucket, key = '', subresources = {}, body, withMd5 } = request;
    const query = sent(request.query);
    const { origin, basePath, host } = this.addresses.of(bucket);
    const headers = {
      ...request.headers,
      ...(host === undefined ? {} : { host }),
      ...(withMd5 === true && body !== undefined ? { 'content-md5': md5Of(body) } : {}),
    };
    return {
      credentials,
      signed: {
        ...{ origin, method },
        path: `${basePath}${encodeKey(key)}${encodeQuery({ ...subresources, ...query })}`,
        headers: this.signer.sign(
          { method, bucket, key, subresources, query, headers },
          credentials,
          this.clock.nowMs() + this.skewMs,
        ),
        ...(body === undefined ? {} : { body }),
      },
    };
  }

  private async exchange(request: HttpRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    try {
      return await this.transport.send(request, signal, (head) => this.learnTime(head));
    } catch (error) {
      throw networkError(error, signal);
    }
  }

  private judged(answer: HttpAnswer, isXml: boolean, credentials: OssCredentials | undefined): HttpAnswer {
    if (isSuccess(answer) && !(isXml && isError(answer.body))) return answer;
    const error = failureOf(answer, credentials?.securityToken !== undefined);
    if (error.kind === 'expired-credentials' && credentials !== undefined) this.source.refused(credentials);
    throw error;
  }

  /** Of a head that arrives now: a Complete tells the time first, and may go on for long until its body is there. */
  private learnTime(head: Pick<HttpAnswer, 'headers'>): void {
    const storeMs = Date.parse(headerOf(head, 'date') ?? '');
    if (Number.isNaN(storeMs)) return;
    // In the middle of the second that it tells.
    const skewMs = storeMs + 500 - this.clock.nowMs();
    this.skewMs = Math.abs(skewMs) < MIN_SKEW_MS ? 0 : skewMs;
  }
}

function isSuccess({ status }: Pick<HttpAnswer, 'status'>): boolean {
  return status >= 200 && status < 300;
}

function sent(values: Readonly<Record<string, string | undefined>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
    ),
  );
}

function md5Of(body: Uint8Array): string {
  return createHash('md5').update(body).digest('base64');
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
