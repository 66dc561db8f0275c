import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../ports/clock.js';
import { Http1Connection, type Exchange } from './connection.js';
import { headText, type HttpAnswer, type HttpRequest, type OnHead } from './http.js';
import { afterNextPoll } from './next-poll.js';

export interface PoolOptions {
  /** At most; further requests wait for one of them. */
  readonly maxSockets: number;
  /** For opening a connection, TLS included. */
  readonly connectTimeoutMs: number;
  readonly lookup?: LookupFunction | undefined;
}

export class ClientClosed extends Error {
  constructor() {
    super('the client was closed');
  }
}

export class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT';
}

interface Pending extends Exchange {
  /** Once one is chosen. */
  connection?: Http1Connection;
  isOver: boolean;
}

/** Idle connections are closed by us this long before the peer does: no request should meet that. */
const idleMarginMs = 1_000;
const maxIdleMs = 4_000;
/** Idle for longer, a connection may have been closed by now without our having read that yet. */
const maxUnseenMs = 100;

/** The connections to one origin. A free one is used within the turn of the event loop in which it became free. */
export class Http1Pool {
  /** The last one used is used next: the others may go. */
  private readonly idle: Http1Connection[] = [];
  private readonly all = new Set<Http1Connection>();
  /** In the order of arrival, as sets are. */
  private readonly waiting = new Set<Pending>();
  private readonly target: URL;
  private session: Buffer | undefined;
  private callOffSweep: (() => void) | undefined;
  private isClosed = false;

  constructor(
    origin: string,
    private readonly options: PoolOptions,
    private readonly clock: Pick<Clock, 'after' | 'monotonicMs'>,
  ) {
    this.target = new URL(origin);
  }

  /** Rejects with what broke the connection, or with the signal's reason. */
  send(request: HttpRequest, signal: AbortSignal | undefined, onHead?: OnHead): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.isClosed) throw new ClientClosed();
      let stopListening = (): void => undefined;
      const pending: Pending = {
        ...{ method: request.method, head: headText(request), body: request.body, onHead },
        isOver: false,
        resolve: (answer) => {
          stopListening();
          resolve(answer);
        },
        reject: (error) => {
          stopListening();
          reject(error);
        },
      };
      if (signal !== undefined) {
        const abort = (): void => this.cancel(pending, signal.reason as Error);
        signal.addEventListener('abort', abort, { once: true });
        stopListening = () => signal.removeEventListener('abort', abort);
      }
      this.waiting.add(pending);
      this.pump();
    });
  }

  close(): void {
    const closed = new ClientClosed();
    this.isClosed = true;
    this.callOffSweep?.();
    for (const pending of this.waiting) this.cancel(pending, closed);
    for (const connection of this.all) connection.destroy(closed);
  }

  private cancel(pending: Pending, error: Error): void {
    pending.isOver = true;
    this.waiting.delete(pending);
    pending.connection?.destroy(error);
    pending.reject(error);
  }

  private pump(): void {
    for (const pending of this.waiting) {
      try {
        const connection = this.takeIdle() ?? this.open();
        if (connection === undefined) return;
        this.waiting.delete(pending);
        this.begin(connection, pending);
      } catch (error) {
        // Whoever calls this may be a socket's event, which nobody would catch it for.
        this.waiting.delete(pending);
        pending.reject(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  private takeIdle(): Http1Connection | undefined {
    for (let last = this.idle.pop(); last !== undefined; last = this.idle.pop()) {
      if (last.isUsable && !this.endIfOld(last)) return last;
    }
    return undefined;
  }

  private endIfOld(connection: Http1Connection): boolean {
    const idleMs = this.clock.monotonicMs() - (connection.idleSinceMs ?? Infinity);
    const isOld = idleMs >= Math.min(maxIdleMs, connection.idleLimitMs - idleMarginMs);
    if (isOld) connection.destroy(new Error('idle for too long'));
    return isOld;
  }

  private begin(connection: Http1Connection, pending: Pending): void {
    pending.connection = connection;
    const { idleSinceMs } = connection;
    if (idleSinceMs === undefined || this.clock.monotonicMs() - idleSinceMs <= maxUnseenMs) {
      connection.send(pending);
      return;
    }
    afterNextPoll(() => {
      if (pending.isOver) return;
      if (this.isClosed) {
        pending.reject(new ClientClosed());
      } else if (connection.isUsable) {
        connection.send(pending);
      } else {
        this.waiting.add(pending);
        this.pump();
      }
    });
  }

  private open(): Http1Connection | undefined {
    if (this.all.size >= this.options.maxSockets) return undefined;
    const isTls = this.target.protocol === 'https:';
    const socket = isTls ? this.connectTls() : this.connectTcp();
    const connection = new Http1Connection(
      socket,
      (free) => this.freed(free),
      (closed) => this.closed(closed),
    );
    this.all.add(connection);
    const { connectTimeoutMs } = this.options;
    const callOff = this.clock.after(connectTimeoutMs, () =>
      connection.destroy(new ConnectTimeout(`no connection in time: after_ms=${connectTimeoutMs}`)),
    );
    socket.once(isTls ? 'secureConnect' : 'connect', callOff);
    socket.once('close', callOff);
    return connection;
  }

  private connectTcp(): Socket {
    return connectTcp({ ...this.address(80), ...this.lookup() });
  }

  private connectTls(): Socket {
    const address = this.address(443);
    const socket = connectTls({
      ...{ ...address, ...this.lookup(), ALPNProtocols: ['http/1.1'] },
      servername: isIP(address.host) === 0 ? address.host : '',
      ...(this.session === undefined ? {} : { session: this.session }),
    });
    let isSecure = false;
    socket.once('secureConnect', () => (isSecure = true));
    socket.on('session', (session) => (this.session = session));
    // It may be what the peer took offence at.
    socket.once('close', () => {
      if (!isSecure) this.session = undefined;
    });
    return socket;
  }

  private address(defaultPort: number): { readonly host: string; readonly port: number } {
    const { hostname, port } = this.target;
    return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? defaultPort : Number(port) };
  }

  private lookup(): { lookup?: LookupFunction } {
    const { lookup } = this.options;
    return lookup === undefined ? {} : { lookup };
  }

  private freed(connection: Http1Connection): void {
    if (this.isClosed) {
      connection.destroy(new ClientClosed());
      return;
    }
    const [next] = this.waiting;
    if (next !== undefined) {
      this.waiting.delete(next);
      next.connection = connection;
      connection.send(next);
      return;
    }
    connection.rest(this.clock.monotonicMs());
    this.idle.push(connection);
    this.callOffSweep ??= this.clock.after(maxIdleMs / 2, () => this.sweep());
  }

  private closed(connection: Http1Connection): void {
    this.all.delete(connection);
    const index = this.idle.indexOf(connection);
    if (index >= 0) this.idle.splice(index, 1);
    this.pump();
  }

  private sweep(): void {
    this.callOffSweep = undefined;
    for (const connection of [...this.idle]) this.endIfOld(connection);
    if (this.idle.length > 0) this.callOffSweep = this.clock.after(maxIdleMs / 2, () => this.sweep());
  }
}
