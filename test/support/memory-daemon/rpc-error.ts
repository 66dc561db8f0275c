import { status as Status, type ServiceError } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

/** The parts of google/rpc that clients read, written down apart from the daemon's own. */
const { root } = protobuf.parse(
  `
  syntax = "proto3";
  message Any { string type_url = 1; bytes value = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message ErrorInfo { string reason = 1; string domain = 2; }
  message Duration { int64 seconds = 1; int32 nanos = 2; }
  message RetryInfo { Duration retry_delay = 1; }
`,
  { keepCase: true },
);

interface WireStatus {
  readonly code: number;
  readonly message: string;
  readonly details: readonly { readonly type_url: string; readonly value: Uint8Array }[];
}

/** An error as a client of the protocol sees it. */
export class RpcError extends Error {
  override readonly name = 'RpcError';

  constructor(
    /** Name of the gRPC code. */
    readonly code: string,
    /** `''` where the status carried no google.rpc.ErrorInfo. */
    readonly reason: string,
    readonly domain: string,
    readonly retryDelayMs: number | undefined,
    /** What the trailers of the call took on the wire, roughly. */
    readonly trailerBytes: number,
    message: string,
  ) {
    super(message);
  }

  static of(error: ServiceError): RpcError {
    const code = Status[error.code];
    const [encoded] = error.metadata.get('grpc-status-details-bin');
    if (!(encoded instanceof Buffer)) return new RpcError(code, '', '', undefined, 0, error.details);
    const status = decode<WireStatus>('Status', encoded);
    const expected: number = error.code;
    if (status.code !== expected)
      throw new Error(`the code in the details is ${status.code}, not ${error.code}`);
    const info = detail<{ reason: string; domain: string }>(status, 'ErrorInfo');
    const retry = detail<{ retry_delay: { seconds: number; nanos: number } }>(status, 'RetryInfo');
    const delayMs =
      retry === undefined ? undefined : retry.retry_delay.seconds * 1_000 + retry.retry_delay.nanos / 1e6;
    const trailerBytes = encodeURI(error.details).length + Math.ceil((encoded.length * 4) / 3);
    return new RpcError(code, info?.reason ?? '', info?.domain ?? '', delayMs, trailerBytes, error.details);
  }
}

function detail<T>(status: WireStatus, name: string): T | undefined {
  const found = status.details.find(({ type_url }) => type_url === `type.googleapis.com/google.rpc.${name}`);
  return found === undefined ? undefined : decode<T>(name, found.value);
}

function decode<T>(name: string, bytes: Uint8Array): T {
  const type = root.lookupType(name);
  return type.toObject(type.decode(bytes), { longs: Number, defaults: true }) as T;
}
