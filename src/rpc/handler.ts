import { isAscii } from 'node:buffer';
import type {
  Metadata,
  handleClientStreamingCall,
  handleUnaryCall,
  ServerReadableStream,
  ServiceDefinition,
} from '@grpc/grpc-js';
import { CommitterError } from '../core/errors.js';
import type { Logger } from '../ports/logger.js';
import { Messages } from './messages.js';
import { contextOf, type CallContext } from './server/call-context.js';
import { statusOf, toError } from './status.js';

/** Stands for a request that is no message of its type. */
class MalformedRequest {
  constructor(readonly cause: unknown) {}
}

/** grpc-js would answer bytes that don't parse as a fault of the daemon's, INTERNAL without details. */
export function withMalformedRequests(definition: ServiceDefinition): ServiceDefinition {
  const methods = Object.entries(definition).map(([name, method]) => {
    const requestDeserialize = (bytes: Buffer): unknown => {
      try {
        const request = method.requestDeserialize(bytes) as unknown;
        refuseInvalidUtf8(request, bytes);
        return request;
      } catch (error) {
        return new MalformedRequest(error);
      }
    };
    return [name, { ...method, requestDeserialize }];
  });
  return Object.fromEntries(methods) as ServiceDefinition;
}

function wellFormed<Request>(request: Request): Request {
  if (!(request instanceof MalformedRequest)) return request;
  if (request.cause instanceof CommitterError) throw request.cause;
  throw new CommitterError('INVALID_FIELD', 'the request is no protobuf message of its type', {
    cause: request.cause,
  });
}

const replacement = '\ufffd';

/**
 * protobufjs puts U+FFFD where a string isn't UTF-8, and two names would become one. Where the message itself holds
 * fewer of them than its strings do, it wasn't the client who wrote them.
 */
function refuseInvalidUtf8(request: unknown, bytes: Buffer): void {
  // Nothing that isn't UTF-8 is ASCII, and a small message mostly is.
  if (isAscii(bytes)) return;
  const decoded = countInStrings(request);
  if (decoded === 0 || decoded <= countInBytes(bytes)) return;
  throw new CommitterError('INVALID_FIELD', 'a text in the request is not UTF-8');
}

function countInStrings(value: unknown): number {
  if (typeof value === 'string') return value.includes(replacement) ? value.split(replacement).length - 1 : 0;
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return 0;
  let count = 0;
  for (const each of Object.values(value)) count += countInStrings(each);
  return count;
}

function countInBytes(bytes: Buffer): number {
  const sought = Buffer.from(replacement);
  let count = 0;
  for (let at = bytes.indexOf(sought); at >= 0; at = bytes.indexOf(sought, at + sought.length)) count++;
  return count;
}

/** The use case goes on when its client has gone: what it settles, it settles. */
export function unary<Request, Response>(
  logger: Logger,
  work: (request: Request, context: CallContext) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    respond(logger, call, (context) => work(wellFormed(call.request), context), callback);
  };
}

export function clientStream<Request, Response>(
  logger: Logger,
  work: (messages: AsyncIterable<Request>, context: CallContext) => Promise<Response>,
): handleClientStreamingCall<Request, Response> {
  return (call: ServerReadableStream<Request, Response>, callback) => {
    const messages = new Messages(call, wellFormed);
    respond(logger, call, (context) => work(messages, context), callback);
  };
}

/** Of the job that a call is about, for messages. */
function destinationOf(call: object): string {
  const { request } = call as { request?: { job?: { destination?: string } | null } };
  return request?.job?.destination ?? 'the job';
}

type Callback<Response> = (error: ReturnType<typeof statusOf> | null, response?: Response) => void;

function respond<Response>(
  logger: Logger,
  call: { readonly metadata: Metadata },
  work: (context: CallContext) => Response | Promise<Response>,
  callback: Callback<Response>,
): void {
  const answer = async (): Promise<void> => {
    let context: CallContext | undefined;
    try {
      context = contextOf(call);
      callback(null, await work(context));
    } catch (thrown) {
      const error = toError(thrown, destinationOf(call));
      if (error.code === 'INTERNAL' || error.code === 'DATA_LOSS')
        logger.error('call failed', { error: thrown });
      callback(statusOf(error));
    } finally {
      // Its client may have gone: then nobody else says so.
      context?.over();
    }
  };
  void answer();
}
