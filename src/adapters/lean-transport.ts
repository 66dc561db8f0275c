import { Agent } from 'undici';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { Clock } from '../ports/clock.js';
import { StoreError } from '../ports/object-store.js';
import { UnsendableRequest, type HttpAnswer, type HttpRequest, type OnHead } from './http1/http.js';
import { ClientClosed, ConnectTimeout, Http1Pool } from './http1/pool.js';

export { headerOf, type HttpAnswer, type HttpRequest } from './http1/http.js';

/** Connections to a store at most, where the configuration says nothing. */
export const DEFAULT_MAX_SOCKETS = 128;
const defaultConnectTimeoutMs = 10_000;

export interface TransportOptions {
  readonly maxSockets?: number;
  /** For opening a connection. */
  readonly connectTimeoutMs?: number;
  /** Finds the addresses of a host, in place of the machine's DNS: for tests, whose servers listen on loopback. */
  readonly lookup?: LookupFunction;
}

/** HTTP for requests and answers that fit in memory, at a thirtieth of what an SDK's way costs. Deadlines are the decorator's. */
export class LeanTransport {
  private readonly pools = new Map<string, Http1Pool>();
  /** For streams. */
  private agent: Agent | undefined;
  private isClosed = false;

  constructor(
    private readonly options: TransportOptions,
    private readonly clock: Pick<Clock, 'after' | 'monotonicMs'>,
  ) {}

  async send(request: HttpRequest, signal: AbortSignal | undefined, onHead?: OnHead): Promise<HttpAnswer> {
    try {
      if (this.isClosed) throw new ClientClosed();
      return await this.pool(request.origin).send(request, signal, onHead);
    } catch (error) {
      throw signal?.aborted === true ? reasonOf(signal) : connectionFailed(error as Error);
    }
  }

  /** The same, with an answer that needn't fit in memory. */
  async stream(
    { body, ...request }: HttpRequest,
    signal: AbortSignal | undefined,
  ): Promise<Omit<HttpAnswer, 'body'> & { readonly body: Readable }> {
    try {
      this.agent ??= this.makeAgent();
      const answer = await this.agent.request({ ...request, body: body ?? null, signal: signal ?? null });
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    } catch (error) {
      throw signal?.aborted === true ? reasonOf(signal) : connectionFailed(error as Error);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const pool of this.pools.values()) pool.close();
    await this.agent?.destroy();
  }

  private pool(origin: string): Http1Pool {
    let pool = this.pools.get(origin);
    if (pool === undefined) {
      const { maxSockets = DEFAULT_MAX_SOCKETS, connectTimeoutMs = defaultConnectTimeoutMs } = this.options;
      pool = new Http1Pool(origin, { maxSockets, connectTimeoutMs, lookup: this.options.lookup }, this.clock);
      this.pools.set(origin, pool);
    }
    return pool;
  }

  private makeAgent(): Agent {
    const { maxSockets, connectTimeoutMs, lookup } = this.options;
    return new Agent({
      connections: maxSockets ?? DEFAULT_MAX_SOCKETS,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        ...(connectTimeoutMs === undefined ? {} : { timeout: connectTimeoutMs }),
        ...(lookup === undefined ? {} : { lookup }),
      },
    });
  }
}

/** `abort` may be given anything. */
function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
}

/** Whatever it is, no answer came, and a signed URL must not be told. */
function connectionFailed(error: Error): StoreError {
  if (error instanceof UnsendableRequest) return new StoreError('invalid', error.message, { cause: error });
  // Nobody repeats it: the daemon has come to its end.
  if (error instanceof ClientClosed) return new StoreError('cancelled', error.message, { cause: error });
  const { code = 'unknown' } = error as { code?: string };
  const isTimeout = error instanceof ConnectTimeout || code === 'UND_ERR_CONNECT_TIMEOUT';
  const kind = isTimeout ? 'timeout' : 'unavailable';
  return new StoreError(kind, `the connection failed before an answer came code=${code}`, { code });
}
