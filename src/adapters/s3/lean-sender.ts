import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '../../ports/clock.js';
import type { ObjectRef } from '../../ports/object-store.js';
import type { HttpAnswer, HttpRequest, LeanTransport } from '../lean-transport.js';
import { encodeKey, encodeQuery, type Query } from '../url-encoding.js';
import type { BucketAddresses } from './bucket-addresses.js';
import { HeaderSigner } from './header-signer.js';
import { errorOf } from './lean-answers.js';
import type { S3Connection } from './s3-connection.js';

export interface S3Request {
  readonly method: HttpRequest['method'];
  readonly object: ObjectRef;
  readonly query?: Query;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/**
 * Requests for one object by a bare HTTP client, without the SDK's middleware: a twentieth of the CPU time. Credentials,
 * region, address and the store's clock are those of the SDK's client.
 */
export class LeanSender {
  private readonly presigner: SignatureV4;
  private headerSigner: Promise<HeaderSigner> | undefined;

  constructor(
    private readonly connection: S3Connection,
    private readonly addresses: BucketAddresses,
    private readonly transport: LeanTransport,
    private readonly clock: Pick<Clock, 'nowMs'>,
  ) {
    const { region, sha256 } = connection.client.config;
    this.presigner = new SignatureV4({
      service: 's3',
      region,
      credentials: () => connection.credentials(),
      sha256,
      // S3 wants a key as it is in the path, escaped once.
      uriEscapePath: false,
    });
  }

  /** Any answer but a success is thrown, in the SDK's shape, unless it is expected. */
  async send(
    request: S3Request,
    signal: AbortSignal | undefined,
    isExpected?: (answer: HttpAnswer) => boolean,
  ): Promise<HttpAnswer> {
    return this.exchange(await this.sign(request), signal, isExpected);
  }

  /**
   * A URL that the store refuses after so many seconds. Its headers are signed too, and not moved into the query:
   * servers read metadata and conditions from headers.
   */
  async presign(request: S3Request, expiresInSeconds: number): Promise<HttpRequest> {
    const { target, origin, host, path } = await this.place(request.object);
    const { method, headers = {}, query = {} } = request;
    const names = new Set(Object.keys(headers));
    const signed = await this.presigner.presign(
      {
        ...{ ...target, method, path, query: { ...query } },
        // The signer moves it into the query: the bytes come later.
        headers: { host, ...headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
      },
      {
        expiresIn: expiresInSeconds,
        signingDate: new Date(this.signingTimeMs()),
        unhoistableHeaders: names,
        signableHeaders: new Set(['host', ...names]),
      },
    );
    return { origin, path: `${path}${encodeQuery(signed.query ?? {})}`, method, headers };
  }

  /** Sends what {@link presign} made, or what is signed otherwise. */
  async exchange(
    request: HttpRequest,
    signal: AbortSignal | undefined,
    isExpected?: (answer: HttpAnswer) => boolean,
  ): Promise<HttpAnswer> {
    const answer = await this.transport.send(request, signal, ({ headers }) =>
      this.connection.noticeDate(headers['date']),
    );
    const isSuccess = answer.status >= 200 && answer.status <= 299;
    if (!isSuccess && isExpected?.(answer) !== true) throw errorOf(answer);
    return answer;
  }

  private async sign({ method, object, query = {}, headers = {}, body }: S3Request): Promise<HttpRequest> {
    const { origin, host, path } = await this.place(object);
    this.headerSigner ??= this.makeHeaderSigner();
    const signer = await this.headerSigner;
    const credentials = await this.connection.credentials();
    const request = { method, path, query, headers: { ...headers, host }, body };
    return {
      ...{ origin, method, path: `${path}${encodeQuery(query)}` },
      headers: signer.sign(request, credentials, this.signingTimeMs()),
      ...(body === undefined ? {} : { body }),
    };
  }

  private async makeHeaderSigner(): Promise<HeaderSigner> {
    return new HeaderSigner(await this.connection.client.config.region());
  }

  private async place({ bucket, key }: ObjectRef) {
    const address = await this.addresses.of(bucket);
    return { ...address, path: `${address.basePath}${encodeKey(key)}` };
  }

  private signingTimeMs(): number {
    return this.clock.nowMs() + this.connection.clockOffsetMs;
  }
}
