import type { handleClientStreamingCall, handleUnaryCall, ServerReadableStream } from '@grpc/grpc-js';
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
    respond(logger, () => work(call as AsyncIterable<Request>, contextOf(call)), callback);
  };
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
