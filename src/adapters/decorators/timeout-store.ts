import type { Readable } from 'node:stream';
import type { Clock } from '../../ports/clock.js';
import type { CallOptions, ObjectRef, ObjectStore } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import { relayStream } from '../relay-stream.js';
import { withDeadline } from './deadline.js';
import { InterceptedStore } from './intercepted-store.js';
import type { Send, StoreRequest } from './intercepted-store.js';

/** The longest that a request which isn't one-shot may be under way: the protocol counts on it ("T"). */
export const MAX_REQUEST_MS = 45_000;

export interface TimeoutOptions {
  /** For a request; {@link MAX_REQUEST_MS} at most. */
  readonly requestMs: number;
  /** For a Complete, which may take minutes where an object has many parts, and happens at most once anyway. */
  readonly completeMs: number;
  /** A part gets the time besides that its bytes take at this rate. */
  readonly minBytesPerSecond?: number;
}

const MIN_BYTES_PER_SECOND = 256 * 1024;

/** Gives each request a deadline; where the adapter has sent it already, its effect is unknown. */
export class TimeoutStore extends InterceptedStore {
  constructor(
    inner: ObjectStore,
    private readonly options: TimeoutOptions,
    private readonly clock: Clock,
  ) {
    super(inner);
    if (options.requestMs > MAX_REQUEST_MS) {
      throw new RangeError(`a request may take ${MAX_REQUEST_MS} ms at most: requestMs=${options.requestMs}`);
    }
  }

  protected around<T>(request: StoreRequest, call: CallOptions, send: Send<T>): Promise<T> {
    return withDeadline(this.clock, this.deadlineMs(request), call, send);
  }

  /** The deadline counts for the answer's head, and then anew for each wait for bytes. */
  override async getStream(object: ObjectRef, call?: CallOptions): Promise<Readable> {
    const source = await super.getStream(object, call);
    const { requestMs } = this.options;
    let waiting = new AbortController();
    const relayed = relayStream(source, {
      toError: (cause) =>
        cause instanceof StoreError ? cause : new StoreError('unavailable', 'the stream broke', { cause }),
      onWait: () => {
        waiting.abort();
        const current = (waiting = new AbortController());
        this.clock.sleep(requestMs, current.signal).then(
          () => relayed.destroy(new StoreError('timeout', `no bytes in time: after_ms=${requestMs}`)),
          () => undefined,
        );
      },
      onBytes: () => waiting.abort(),
    });
    return relayed;
  }

  private deadlineMs({ kind, bodyBytes }: StoreRequest): number {
    const { requestMs, completeMs, minBytesPerSecond } = this.options;
    if (kind === 'complete') return completeMs;
    if (kind !== 'part') return requestMs;
    return requestMs + (bodyBytes / (minBytesPerSecond ?? MIN_BYTES_PER_SECOND)) * 1_000;
  }
}
