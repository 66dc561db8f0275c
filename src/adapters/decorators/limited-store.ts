import type { Readable } from 'node:stream';
import type { CallOptions, ObjectRef, ObjectStore } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import { InterceptedStore } from './intercepted-store.js';
import type { Send, StoreRequest } from './intercepted-store.js';

export interface LimitOptions {
  /** Requests at a time, parts and streams apart. */
  readonly requests: number;
  /** Parts and streams at a time: bytes must not keep a small request that decides something waiting. */
  readonly transfers: number;
}

/** Bounds the requests that are under way at a time; the others wait in the order in which they came. */
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
    try {
      return await send(call);
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

class Slots {
  private free: number;
  /** In the order of arrival, as sets are. */
  private readonly waiting = new Set<() => void>();

  constructor(count: number) {
    if (!(count >= 1)) throw new RangeError(`at least one request at a time: count=${count}`);
    this.free = count;
  }

  async take(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) throw cancelled(signal);
    if (this.free > 0) {
      this.free -= 1;
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

  /** Hands the slot to the one who has waited longest. */
  give(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.free += 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}

function cancelled(signal: AbortSignal | undefined): StoreError {
  return new StoreError('cancelled', 'cancelled before it was sent', { cause: signal?.reason });
}
