import type {
  Metadata,
  handleClientStreamingCall,
  handleUnaryCall,
  ServerReadableStream,
  ServiceDefinition,
} from '@grpc/grpc-js';
import { CommitterError } from '../core/errors.js';
import type { Logger } from '../ports/logger.js';
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
        return method.requestDeserialize(bytes) as unknown;
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
  throw new CommitterError('INVALID_FIELD', 'the request is no protobuf message of its type', {
    cause: request.cause,
  });
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
    // A client that goes away in the middle ends the iteration with an error; the listener keeps a second one quiet.
    call.on('error', () => undefined);
    respond(logger, call, (context) => work(untilCancelled(call), context), callback);
  };
}

/** A stream that its client gave up is not a fault of the daemon's. */
async function* untilCancelled<Request, Response>(
  call: ServerReadableStream<Request, Response>,
): AsyncGenerator<Request> {
  try {
    for await (const message of call as AsyncIterable<Request>) yield wellFormed(message);
  } catch (error) {
    if (!call.cancelled) throw error;
    throw new CommitterError('INVALID_FIELD', 'the client went away before the end of its stream', {
      cause: error,
    });
  }
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
