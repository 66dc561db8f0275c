import { Metadata, status as Status, type StatusObject } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { CommitterError, type ErrorCode } from '../core/errors.js';
import { isStoreError } from '../ports/object-store.js';
import { toCommitterError } from '../app/store-errors.js';

export const errorDomain = 'commitbridge.io';
export const statusDetailsKey = 'grpc-status-details-bin';

/**
 * Trailers have a limit of 8 KiB in most HTTP/2 stacks, and the text travels twice: percent-encoded, where a
 * character may take nine bytes, and in base64.
 */
const maxEncodedBytes = 3_000;

/** The wire shape of google/rpc/status.proto and error_details.proto, as far as errors here use it. */
const shapes = protobuf.Root.fromJSON({
  nested: {
    google: {
      nested: {
        protobuf: {
          nested: {
            Any: { fields: { type_url: { type: 'string', id: 1 }, value: { type: 'bytes', id: 2 } } },
            Duration: { fields: { seconds: { type: 'int64', id: 1 }, nanos: { type: 'int32', id: 2 } } },
          },
        },
        rpc: {
          nested: {
            Status: {
              fields: {
                code: { type: 'int32', id: 1 },
                message: { type: 'string', id: 2 },
                details: { rule: 'repeated', type: 'google.protobuf.Any', id: 3 },
              },
            },
            ErrorInfo: { fields: { reason: { type: 'string', id: 1 }, domain: { type: 'string', id: 2 } } },
            RetryInfo: { fields: { retry_delay: { type: 'google.protobuf.Duration', id: 1 } } },
          },
        },
      },
    },
  },
});
const StatusShape = shapes.lookupType('google.rpc.Status');
const ErrorInfoShape = shapes.lookupType('google.rpc.ErrorInfo');
const RetryInfoShape = shapes.lookupType('google.rpc.RetryInfo');

const codes: Readonly<Record<ErrorCode, Status>> = {
  INVALID_ARGUMENT: Status.INVALID_ARGUMENT,
  NOT_FOUND: Status.NOT_FOUND,
  ALREADY_EXISTS: Status.ALREADY_EXISTS,
  PERMISSION_DENIED: Status.PERMISSION_DENIED,
  UNAUTHENTICATED: Status.UNAUTHENTICATED,
  FAILED_PRECONDITION: Status.FAILED_PRECONDITION,
  ABORTED: Status.ABORTED,
  UNAVAILABLE: Status.UNAVAILABLE,
  RESOURCE_EXHAUSTED: Status.RESOURCE_EXHAUSTED,
  DATA_LOSS: Status.DATA_LOSS,
  INTERNAL: Status.INTERNAL,
};

/** A google.rpc.Status in the trailers: ErrorInfo first, RetryInfo where the same call may be repeated. */
export function statusOf(error: CommitterError): Pick<StatusObject, 'code' | 'details' | 'metadata'> {
  const code = codes[error.code];
  const message = cut(error.message);
  const details = [anyOf(ErrorInfoShape, { reason: error.reason, domain: errorDomain })];
  if (error.retryAfterMs !== undefined) {
    const seconds = Math.floor(error.retryAfterMs / 1_000);
    const nanos = Math.round((error.retryAfterMs % 1_000) * 1_000_000);
    details.push(anyOf(RetryInfoShape, { retry_delay: { seconds, nanos } }));
  }
  const metadata = new Metadata();
  metadata.set(statusDetailsKey, Buffer.from(StatusShape.encode({ code, message, details }).finish()));
  return { code, details: message, metadata };
}

/** Whatever a use case threw. Faults of our own are not told to the client but for their being one. */
export function toError(error: unknown, where: string): CommitterError {
  if (error instanceof CommitterError) return error;
  if (isStoreError(error)) return toCommitterError(error, where);
  return new CommitterError('INTERNAL', 'the daemon has a fault; its log says more', { cause: error });
}

function anyOf(shape: protobuf.Type, value: Record<string, unknown>): Record<string, unknown> {
  return {
    type_url: `type.googleapis.com${shape.fullName.replace(/^\./, '/')}`,
    value: shape.encode(value).finish(),
  };
}

function cut(text: string): string {
  let encodedBytes = 0;
  let end = 0;
  for (const character of text) {
    const bytes = Buffer.byteLength(character);
    encodedBytes += bytes > 1 || !/[\x20-\x7e]/.test(character) ? 3 * bytes : 1;
    if (encodedBytes > maxEncodedBytes) return `${text.slice(0, end)}…`;
    end += character.length;
  }
  return text;
}
