import type { handleClientStreamingCall, handleUnaryCall, ServerReadableStream } from '@grpc/grpc-js';
import { CommitterError } from '../core/errors.js';
import type { Logger } from '../ports/logger.js';
import { contextOf, type CallContext } from './server/call-context.js';
import { statusOf, toError } from './status.js';

/** The use case goes on when its client has gone: what it settles, it settles. */
export function unary<Request, Response>(
  logger: Logger,
  work: (request: Request, context: CallContext) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    respond(logger, () => work(call.request, contextOf(call)), callback);
  };
}

export function clientStream<Request, Response>(
  logger: Logger,
  work: (messages: AsyncIterable<Request>, context: CallContext) => Promise<Response>,
): handleClientStreamingCall<Request, Response> {
  return (call: ServerReadableStream<Request, Response>, callback) => {
    // A client that goes away in the middle ends the iteration with an error; the listener keeps a second one quiet.
    call.on('error', () => undefined);
    respond(logger, () => work(untilCancelled(call), contextOf(call)), callback);
  };
}

/** A stream that its client gave up is not a fault of the daemon's. */
async function* untilCancelled<Request, Response>(
  call: ServerReadableStream<Request, Response>,
): AsyncGenerator<Request> {
  try {
    yield* call as AsyncIterable<Request>;
  } catch (error) {
    if (!call.cancelled) throw error;
    throw new CommitterError('INVALID_FIELD', 'the client went away before the end of its stream', {
      cause: error,
    });
  }
}

type Callback<Response> = (error: ReturnType<typeof statusOf> | null, response?: Response) => void;

function respond<Response>(
  logger: Logger,
  work: () => Response | Promise<Response>,
  callback: Callback<Response>,
): void {
  // In a promise from the first step on: what throws at once is answered too.
  Promise.resolve()
    .then(work)
    .then(
      (response) => {
        callback(null, response);
      },
      (thrown: unknown) => {
        const error = toError(thrown);
        if (error.code === 'INTERNAL' || error.code === 'DATA_LOSS')
          logger.error('call failed', { error: thrown });
        callback(statusOf(error));
      },
    );
}
