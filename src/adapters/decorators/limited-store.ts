import type { Readable } from 'node:stream';
import type { CallOptions, ObjectRef, ObjectStore } from '../../ports/object-store.js';
import { StoreError, isStoreError } from '../../ports/object-store.js';
import { InterceptedStore } from './intercepted-store.js';
import type { Send, StoreRequest } from './intercepted-store.js';

export interface LimitOptions {
  /** Requests at a time, parts and streams apart. */
  readonly requests: number;
  /** Parts and streams at a time: bytes must not keep a small request that decides something waiting. */
  readonly transfers: number;
}

/**
 * Bounds the requests that are under way at a time; the others wait in the order in which they came. The bound adapts: it
 * loses a tenth when the store throttles and grows again by one for as many successes as it is. A tenth, not a half as in
 * TCP: a store that refuses loses nothing of what it takes at the same time, and half the requests would leave a quarter of
 * its limit unused on average (`npm run bench:scale`).
 */
export class LimitedStore extends InterceptedStore {
  private readonly requests: Slots;
  private readonly transfers: Slots;

  constructor(inner: ObjectStore, options: LimitOptions) {
    super(inner);
    this.requests = new Slots(options.requests);
    this.transfers = new Slots(options.transfers);
  }

  protected async around<T>({ kind }: StoreRequest, call: CallOptions, send: Send<T>): Promise<T> {
    const slots = kind === 'part' ? this.transfers : this.requests;
    await slots.take(call.signal);
    const { generation } = slots;
    try {
      const answer = await send(call);
      slots.grow();
      return answer;
    } catch (error) {
      if (isStoreError(error, 'throttled')) slots.shrink(generation);
      throw error;
    } finally {
      slots.give();
    }
  }

  /** A stream keeps its slot until it is read, left or broken. */
  override async getStream(object: ObjectRef, call?: CallOptions): Promise<Readable> {
    await this.transfers.take(call?.signal);
    try {
      const stream = await this.inner.getStream(object, call);
      stream.once('close', () => this.transfers.give());
      return stream;
    } catch (error) {
      this.transfers.give();
      throw error;
    }
  }
}

const keptWhenThrottled = 0.9;

class Slots {
  /** How often the limit was lowered: requests that began before say nothing of the limit that is. */
  generation = 0;
  private used = 0;
  private limit: number;
  /** In the order of arrival, as sets are. */
  private readonly waiting = new Set<() => void>();

  constructor(private readonly count: number) {
    if (!(count >= 1)) throw new RangeError(`at least one request at a time: count=${count}`);
    this.limit = count;
  }

  async take(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) throw cancelled(signal);
    if (this.hasFree) {
      this.used += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.waiting.delete(proceed);
        reject(cancelled(signal));
      };
      const proceed = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.waiting.add(proceed);
    });
  }

  /** Hands the slot to the one who has waited longest, or keeps it where the limit was lowered. */
  give(): void {
    this.used -= 1;
    this.admit();
  }

  /** By a tenth of what is under way, once for all requests that were under way together. */
  shrink(generation: number): void {
    if (generation !== this.generation) return;
    this.generation += 1;
    this.limit = Math.max(1, Math.floor(Math.min(this.limit, this.used) * keptWhenThrottled));
  }

  grow(): void {
    if (this.limit === this.count) return;
    this.limit = Math.min(this.count, this.limit + 1 / this.limit);
    this.admit();
  }

  private get hasFree(): boolean {
    return this.used + 1 <= this.limit;
  }

  private admit(): void {
    for (const next of this.waiting) {
      if (!this.hasFree) return;
      this.waiting.delete(next);
      this.used += 1;
      next();
    }
  }
}

function cancelled(signal: AbortSignal | undefined): StoreError {
  return new StoreError('cancelled', 'cancelled before it was sent', { cause: signal?.reason });
}
