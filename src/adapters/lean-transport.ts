import { Agent } from 'undici';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { StoreError } from '../ports/object-store.js';

export interface HttpRequest {
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Told of an answer when its head arrives; the body may take minutes more. */
export type OnHead = (head: Omit<HttpAnswer, 'body'>) => void;

/** Connections to a store at most, where the configuration says nothing. */
export const DEFAULT_MAX_SOCKETS = 128;

export interface TransportOptions {
  readonly maxSockets?: number;
  /** For opening a connection. */
  readonly connectTimeoutMs?: number;
  /** Finds the addresses of a host, in place of the machine's DNS: for tests, whose servers listen on loopback. */
  readonly lookup?: LookupFunction;
}

export function headerOf({ headers }: Pick<HttpAnswer, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** HTTP for requests and answers that fit in memory, at a twentieth of what an SDK's way costs. Deadlines are the decorator's. */
export class LeanTransport {
  private readonly agent: Agent;

  constructor(options: TransportOptions) {
    this.agent = new Agent({
      connections: options.maxSockets ?? DEFAULT_MAX_SOCKETS,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        ...(options.connectTimeoutMs === undefined ? {} : { timeout: options.connectTimeoutMs }),
        ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
      },
    });
  }

  send(
    { body, ...request }: HttpRequest,
    signal: AbortSignal | undefined,
    onHead?: OnHead,
  ): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      let status = 0;
      let headers: HttpAnswer['headers'] = {};
      const chunks: Buffer[] = [];
      let stopListening = (): void => undefined;
      const asBuffer = body && Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      this.agent.dispatch(
        { ...request, body: asBuffer ?? null },
        {
          onRequestStart: (controller) => {
            if (signal === undefined) return;
            const abort = (): void => controller.abort(reasonOf(signal));
            // It may have waited for a connection until after its end.
            if (signal.aborted) {
              abort();
              return;
            }
            signal.addEventListener('abort', abort, { once: true });
            stopListening = () => signal.removeEventListener('abort', abort);
          },
          onResponseStart: (_, code, fields) => {
            status = code;
            headers = fields;
            onHead?.({ status, headers });
          },
          onResponseData: (_, chunk) => {
            chunks.push(chunk);
          },
          onResponseEnd: () => {
            stopListening();
            const [only] = chunks;
            resolve({ status, headers, body: chunks.length === 1 && only ? only : Buffer.concat(chunks) });
          },
          onResponseError: (_, error) => {
            stopListening();
            reject(signal?.aborted === true ? reasonOf(signal) : connectionFailed(error));
          },
        },
      );
    });
  }

  /** The same, with an answer that needn't fit in memory. */
  async stream(
    { body, ...request }: HttpRequest,
    signal: AbortSignal | undefined,
  ): Promise<Omit<HttpAnswer, 'body'> & { readonly body: Readable }> {
    try {
      const answer = await this.agent.request({ ...request, body: body ?? null, signal: signal ?? null });
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    } catch (error) {
      throw signal?.aborted === true ? reasonOf(signal) : connectionFailed(error as Error);
    }
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }
}

/** `abort` may be given anything. */
function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
}

/** Whatever it is, no answer came, and a signed URL must not be told. */
function connectionFailed(error: Error): StoreError {
  const { code = 'unknown' } = error as { code?: string };
  const kind = code === 'UND_ERR_CONNECT_TIMEOUT' ? 'timeout' : 'unavailable';
  return new StoreError(kind, `the connection failed before an answer came code=${code}`, { code });
}
