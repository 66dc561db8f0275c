import { S3Client } from '@aws-sdk/client-s3';
import type { Clock } from '../../ports/clock.js';
import type { StoreError } from '../../ports/object-store.js';
import { DEFAULT_MAX_SOCKETS } from '../lean-transport.js';
import { FileCredentials } from '../watched-credentials.js';
import { parseCredentials } from './file-credentials.js';
import type { AwsCredentials } from './file-credentials.js';
import { toStoreError } from './s3-errors.js';
import type { S3StoreOptions } from './s3-options.js';

/** What stores accept is 15 minutes; the SDK corrects from 5 on. */
const toleratedSkewMs = 300_000;

/** One client of the SDK with its sockets and credentials, and the way every call goes. */
export class S3Connection {
  readonly client: S3Client;
  private readonly file: FileCredentials<AwsCredentials> | undefined;
  private readonly fixed: Promise<AwsCredentials> | undefined;

  constructor(
    options: S3StoreOptions,
    private readonly clock: Clock,
  ) {
    const { credentials } = options;
    this.file =
      credentials.kind === 'file'
        ? new FileCredentials(credentials.path, clock, parseCredentials)
        : undefined;
    this.fixed = credentials.kind === 'static' ? Promise.resolve(credentials) : undefined;
    this.client = makeClient(options, this.file);
  }

  /** Runs one request; a failure is a {@link StoreError}, and leads to a fresh look for credentials if it is they. */
  async run<T>(signal: AbortSignal | undefined, request: (at: RequestOptions) => Promise<T>): Promise<T> {
    try {
      return await request(signal === undefined ? {} : { abortSignal: signal });
    } catch (error) {
      throw await this.failed(error, signal);
    }
  }

  credentials(): Promise<AwsCredentials> {
    return this.fixed ?? this.client.config.credentials();
  }

  /** How far the store's clock is ahead of this machine's. */
  get clockOffsetMs(): number {
    return this.client.config.systemClockOffset;
  }

  /** Learns the store's time, as the SDK does from the answers that it sees itself. */
  noticeDate(header: string | string[] | undefined): void {
    if (typeof header !== 'string') return;
    const offsetMs = Date.parse(header) - this.clock.nowMs();
    if (Math.abs(offsetMs - this.clockOffsetMs) >= toleratedSkewMs)
      this.client.config.systemClockOffset = offsetMs;
  }

  close(): void {
    this.client.destroy();
  }

  private async failed(error: unknown, signal: AbortSignal | undefined): Promise<StoreError> {
    const storeError = toStoreError(error, signal);
    if (storeError.kind === 'expired-credentials') {
      this.file?.refresh();
      // The chain of the SDK keeps what it has until five minutes before its end, unless it is told so.
      await this.client.config.credentials({ forceRefresh: true }).catch(() => undefined);
    }
    return storeError;
  }
}

export interface RequestOptions {
  readonly abortSignal?: AbortSignal;
}

function makeClient(options: S3StoreOptions, file: FileCredentials<AwsCredentials> | undefined): S3Client {
  const { endpoint, region, pathStyle, credentials } = options;
  const agent = { keepAlive: true, maxSockets: options.maxSockets ?? DEFAULT_MAX_SOCKETS };
  const client = new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint }),
    forcePathStyle: pathStyle ?? false,
    // The decorator retries, and nobody else.
    maxAttempts: 1,
    // A checksum of an empty body would be baked into signed URLs, and hashing costs more than sending.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // With "Expect: 100-continue" the SDK opens a new connection for each part.
    expectContinueHeader: false,
    requestHandler: {
      httpAgent: agent,
      httpsAgent: agent,
      ...(options.connectTimeoutMs !== undefined && { connectionTimeout: options.connectTimeoutMs }),
    },
    ...(credentials.kind === 'static' && { credentials }),
    ...(file !== undefined && { credentials: askedEachTime(file) }),
  });
  sendPartsUnsignedOverTls(client);
  return client;
}

/** The SDK would keep credentials without an expiry for ever, unless the provider says that it remembers itself. */
function askedEachTime(file: FileCredentials<AwsCredentials>): () => Promise<AwsCredentials> {
  return Object.assign(() => file.get(), { memoized: true });
}

/** TLS protects the bytes of a part already; hashing them for the signature halves the throughput. */
function sendPartsUnsignedOverTls(client: S3Client): void {
  client.middlewareStack.add(
    (next, context) => (args) => {
      const request = args.request as { protocol?: string; headers?: Record<string, string> };
      const { commandName } = context as { commandName?: string };
      if (
        commandName === 'UploadPartCommand' &&
        request.protocol === 'https:' &&
        request.headers !== undefined
      ) {
        request.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
      }
      return next(args);
    },
    { step: 'build', name: 'unsignedPartsMiddleware' },
  );
}
