import type { Socket } from 'node:net';
import { AnswerParser } from './answer-parser.js';
import type { HttpAnswer, OnHead } from './http.js';
import { afterNextPoll } from './next-poll.js';

/** A request that waits for its answer. */
export interface Exchange {
  readonly method: string;
  readonly head: string;
  readonly body: Uint8Array | undefined;
  readonly onHead: OnHead | undefined;
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** A body up to this size is copied behind the head: both take one system call. */
const maxCopiedBytes = 64 * 1024;

/** What a peer keeps open without a request, unless it says another time. */
const defaultIdleMs = 5_000;

/** One socket, and at most one request on it at a time. */
export class Http1Connection {
  /** Since when it has had no request, on the pool's clock; `undefined` before its first one. */
  idleSinceMs: number | undefined;
  /** How long the peer keeps it open without a request. */
  idleLimitMs = defaultIdleMs;
  private exchange: Exchange | undefined;
  private parser: AnswerParser | undefined;
  private broken: Error | undefined;
  private isResting = false;

  constructor(
    private readonly socket: Socket,
    /** It takes another request. */
    private readonly onFree: (connection: Http1Connection) => void,
    private readonly onClose: (connection: Http1Connection) => void,
  ) {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('end', () => this.ended());
    socket.on('error', (error) => (this.broken ??= error));
    socket.on('close', () => this.closed());
  }

  get isUsable(): boolean {
    return !this.socket.destroyed && this.socket.writable;
  }

  send(exchange: Exchange): void {
    this.exchange = exchange;
    this.parser = new AnswerParser(exchange.method, (parser) => exchange.onHead?.(parser));
    if (this.isResting) this.socket.ref();
    this.isResting = false;
    const { head, body } = exchange;
    if (body === undefined || body.byteLength === 0) {
      this.socket.write(head, 'latin1');
    } else if (body.byteLength <= maxCopiedBytes) {
      const whole = Buffer.allocUnsafe(head.length + body.byteLength);
      whole.write(head, 'latin1');
      whole.set(body, head.length);
      this.socket.write(whole);
    } else {
      this.socket.cork();
      this.socket.write(head, 'latin1');
      this.socket.write(body);
      this.socket.uncork();
    }
  }

  /** Its socket keeps no process alive. */
  rest(nowMs: number): void {
    this.idleSinceMs = nowMs;
    this.isResting = true;
    this.socket.unref();
  }

  /** Ends what is under way by this error, and the socket with it. */
  destroy(error: Error): void {
    this.broken ??= error;
    this.socket.destroy();
    this.fail(error);
  }

  private read(chunk: Buffer): void {
    const { parser } = this;
    if (parser === undefined) {
      this.destroy(new Error('an answer came without a request'));
      return;
    }
    try {
      const rest = parser.push(chunk);
      if (rest !== undefined) this.answered(parser, rest.length > 0);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private answered(parser: AnswerParser, hasMore: boolean): void {
    const { exchange } = this;
    this.exchange = this.parser = undefined;
    exchange?.resolve({ status: parser.status, headers: parser.headers, body: parser.body });
    this.idleLimitMs = idleLimitOf(parser);
    // The peer may have answered before it had all of the body.
    const isWritten = this.socket.writableLength === 0;
    if (!parser.keepsAlive || hasMore || !isWritten) {
      this.socket.destroy();
    } else if (parser.isBodiless) {
      // Some servers send a body all the same, which must not be taken for the next answer.
      afterNextPoll(() => {
        if (this.isUsable) this.onFree(this);
      });
    } else {
      this.onFree(this);
    }
  }

  private ended(): void {
    const { parser } = this;
    if (parser?.end() === true) this.answered(parser, false);
    this.socket.destroy();
  }

  private closed(): void {
    const closed = Object.assign(new Error('the peer closed the connection'), { code: 'ECONNRESET' });
    this.fail(this.broken ?? closed);
    this.onClose(this);
  }

  private fail(error: Error): void {
    const { exchange } = this;
    this.exchange = this.parser = undefined;
    exchange?.reject(error);
  }
}

function idleLimitOf({ headers }: AnswerParser): number {
  const said = headers['keep-alive'];
  const seconds = typeof said === 'string' ? /timeout=(\d{1,6})/i.exec(said)?.[1] : undefined;
  return seconds === undefined ? defaultIdleMs : Number(seconds) * 1_000;
}
