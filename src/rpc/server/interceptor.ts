import {
  type Metadata,
  type ServerInterceptor,
  type ServerInterceptingCallInterface,
  ServerInterceptingCall,
  status as Status,
} from '@grpc/grpc-js';
import { CommitterError, isCommitterError } from '../../core/errors.js';
import type { Clock, Random } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import type { Metrics } from '../../ports/metrics.js';
import { type AuthPolicy, authenticate } from './authenticator.js';
import { attachContext } from './call-context.js';
import type { CallTracker } from './call-tracker.js';

export interface RefusalStatus {
  readonly code: Status;
  readonly details: string;
  readonly metadata?: Metadata | null;
}

export interface InterceptorDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracker: CallTracker;
  readonly isDraining: () => boolean;
  /** Encodes an error with its details into the trailers. */
  readonly statusOf: (error: CommitterError) => RefusalStatus;
}

const detailsKey = 'grpc-status-details-bin';
const durationMetric = 'rpc_server_call_duration_seconds';
const inFlightMetric = 'commitbridge_rpcs_in_flight';

/** Steps in the life of a job, which are logged at level info. */
const lifecycle = new Set(['SetupJob', 'CommitJob', 'AbortJob']);
const broken = new Set<Status>([Status.INTERNAL, Status.UNKNOWN, Status.DATA_LOSS]);

/** Before a handler: identity, drain. After it: log, metrics. Health checks pass untouched. */
export function callInterceptor(policy: AuthPolicy, deps: InterceptorDeps): ServerInterceptor {
  return (method, call) => {
    if (method.path.startsWith('/grpc.health.')) return new ServerInterceptingCall(call);
    giveTransportErrorsDetails(call, deps);
    const isReflection = method.path.startsWith('/grpc.reflection.');
    const startedMs = deps.clock.monotonicMs();
    const rpc = method.path.slice(method.path.lastIndexOf('/') + 1);
    let requestId = '';
    // Reflection streams stay open as long as their client likes: no drain waits for them.
    let isBegun = isReflection;
    let isHandled = false;
    let end = (): void => undefined;
    // From its first whole message on: one that is too large reaches no handler, and nobody says that it is over.
    const begin = (): void => {
      if (isBegun) return;
      isBegun = true;
      end = deps.tracker.begin();
      deps.metrics.gauge(inFlightMetric, deps.tracker.count);
    };
    const over = (): void => {
      end();
      deps.metrics.gauge(inFlightMetric, deps.tracker.count);
    };
    let isFinished = false;
    const finish = (code: Status, details: string | undefined): void => {
      if (isFinished) return;
      isFinished = true;
      const durationMs = deps.clock.monotonicMs() - startedMs;
      const name = Status[code];
      deps.metrics.observe(durationMetric, durationMs / 1_000, {
        rpc_method: method.path.slice(1),
        rpc_response_status_code: name,
      });
      logCall(deps.logger, code, {
        rpc,
        code: name,
        duration_ms: Math.round(durationMs),
        request_id: requestId,
        ...(code === Status.OK ? {} : { details }),
      });
    };
    const admit = (metadata: Metadata): CommitterError | undefined => {
      requestId = requestIdOf(metadata, deps.random);
      try {
        const principal = authenticate(policy, metadata, call);
        attachContext(metadata, {
          principal,
          requestId,
          over,
        });
      } catch (error) {
        if (isCommitterError(error)) return error;
        throw error;
      }
      return deps.isDraining() ? new CommitterError('DRAINING', 'the daemon is shutting down') : undefined;
    };
    return new ServerInterceptingCall(call, {
      start: (next) => {
        next({
          onReceiveMetadata: (metadata, pass) => {
            const refusal = admit(metadata);
            if (refusal === undefined) {
              // A stream is running as soon as it is open.
              if (method.requestStream) begin();
              pass(metadata);
              return;
            }
            const status = deps.statusOf(refusal);
            finish(status.code, status.details);
            over();
            call.sendStatus(status);
          },
          onReceiveMessage: (message, pass) => {
            begin();
            pass(message);
          },
          onReceiveHalfClose: (pass) => {
            // grpc-js (seen in 1.14.7) also says so where the client reset the stream or lost its connection: a cut
            // CommitTask would pass for a whole one. `onCancel` follows and ends the handler's iteration.
            if (isClosed(call)) return;
            begin();
            isHandled = true;
            pass();
          },
          onCancel: () => {
            finish(Status.CANCELLED, 'the client went away');
            // A unary handler goes on without its client, and says itself when it is over; a stream has nothing to go
            // on with.
            if (method.requestStream || method.responseStream || !isHandled) over();
          },
        });
      },
      sendStatus: (status, next) => {
        finish(status.code, status.details);
        next(status);
        over();
      },
    });
  };
}

/**
 * grpc-js (seen in 1.14.7) refuses a message over the limit below all interceptors, without the details that every
 * error has. Its own errors come without metadata, ours never do.
 */
function giveTransportErrorsDetails(call: ServerInterceptingCallInterface, deps: InterceptorDeps): void {
  const send = call.sendStatus.bind(call);
  call.sendStatus = (status) => {
    const isOurs = status.code !== Status.RESOURCE_EXHAUSTED || status.metadata?.get(detailsKey).length === 1;
    if (isOurs) {
      send(status);
      return;
    }
    const text = `a message is over the limit (${status.details}): send less at once, or raise limits.maxMessage`;
    send(deps.statusOf(new CommitterError('LIMIT_EXCEEDED', text)));
  };
}

/** A stream that is closed both ways before its status was sent has nobody at its other end. */
function isClosed(call: object): boolean {
  const { stream } = call as { readonly stream?: { readonly closed?: boolean } };
  return stream?.closed === true;
}

function logCall(logger: Logger, code: Status, fields: Readonly<Record<string, unknown>>): void {
  if (code === Status.OK) {
    if (lifecycle.has(String(fields['rpc']))) logger.info('rpc answered', fields);
    else logger.debug('rpc answered', fields);
  } else if (broken.has(code)) {
    logger.error('rpc failed', fields);
  } else {
    logger.info('rpc refused', fields);
  }
}

function requestIdOf(metadata: Metadata, random: Random): string {
  const given = metadata.get('x-request-id')[0]?.toString();
  if (given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given)) return given;
  return Buffer.from(random.bytes(8)).toString('hex');
}
