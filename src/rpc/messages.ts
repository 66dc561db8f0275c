import type { ServerReadableStream } from '@grpc/grpc-js';
import { CommitterError } from '../core/errors.js';

/**
 * The messages of a client's stream, read as they are asked for. The stream's own iterator destroys it at the end, and
 * grpc-js (seen in 1.14.7) makes two errors with stacks of that for each call that ends well: a tenth of CommitTask's
 * CPU time. Here the stream is destroyed only where somebody stops reading before its end.
 */
export class Messages<Message> implements AsyncIterableIterator<Message> {
  private isWhole = false;
  private failure: Error | undefined;
  private wake: (() => void) | undefined;

  constructor(
    private readonly stream: ServerReadableStream<Message, unknown>,
    /** Throws for one that isn't what it should be: none is read after it. */
    private readonly checked: (message: Message) => Message = (message) => message,
  ) {
    const wake = (): void => this.wake?.();
    stream.on('readable', wake);
    stream.on('close', wake);
    stream.on('end', () => {
      this.isWhole = true;
      wake();
    });
    stream.on('error', (error) => {
      this.failure ??= error;
      wake();
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Message, undefined>> {
    for (;;) {
      const message = this.stream.destroyed ? null : (this.stream.read() as Message | null);
      if (message !== null) return { done: false, value: this.check(message) };
      if (this.isWhole) return { done: true, value: undefined };
      if (this.stream.destroyed) throw this.failureOrGone();
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Whoever iterates stopped early: what else comes is thrown away. */
  return(): Promise<IteratorResult<Message, undefined>> {
    this.stream.destroy();
    return Promise.resolve({ done: true, value: undefined });
  }

  private check(message: Message): Message {
    try {
      return this.checked(message);
    } catch (error) {
      this.stream.destroy();
      throw error;
    }
  }

  /** A stream that its client gave up is not a fault of the daemon's. */
  private failureOrGone(): Error {
    const { failure, stream } = this;
    if (failure !== undefined && !stream.cancelled) return failure;
    return new CommitterError('INVALID_FIELD', 'the client went away before the end of its stream', {
      cause: failure,
    });
  }
}
