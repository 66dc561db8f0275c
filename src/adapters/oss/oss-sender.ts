import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Sender, SenderParams } from 'ali-oss';
import type { StoreError } from '../../ports/object-store.js';
import { networkError } from './oss-errors.js';

export interface OssAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** In place of the body, where a stream was asked for and the answer is a success. */
  readonly stream?: IncomingMessage;
}

/** What a sender tells ali-oss in place of an answer: an error that is thrown through it comes out as another. */
export interface NoAnswer {
  readonly failure: StoreError;
}

/** Travels through ali-oss to the sender. */
export interface SendContext {
  readonly signal?: AbortSignal | undefined;
  readonly asStream?: boolean | undefined;
}

export interface SenderOptions {
  readonly maxSockets: number;
  readonly connectTimeoutMs: number | undefined;
  /** Hosts of IP addresses are told by ali-oss as if they were OSS's own, which path style contradicts. */
  readonly keepsHost: boolean;
}

/** A connection that is silent for so long is dead, whatever deadline the call has. */
const SILENCE_MS = 120_000;

/**
 * What ali-oss sends its requests by. Its own HTTP library can't be told to end a request, doesn't retry it either,
 * and hides why a connection broke.
 */
export class OssSender implements Sender {
  private readonly http: HttpAgent;
  private readonly https: HttpsAgent;

  constructor(private readonly options: SenderOptions) {
    const pool = { keepAlive: true, maxSockets: options.maxSockets, scheduling: 'lifo' as const };
    this.http = new HttpAgent(pool);
    this.https = new HttpsAgent(pool);
  }

  async request(url: string, params: SenderParams): Promise<OssAnswer | NoAnswer> {
    try {
      return await this.send(url, params);
    } catch (error) {
      return { failure: networkError(error, (params.ctx as SendContext | undefined)?.signal) };
    }
  }

  send(url: string, { method, headers, content, ctx }: SenderParams): Promise<OssAnswer> {
    const target = targetOf(url);
    const sent = { ...headers };
    if (!this.options.keepsHost) delete sent['host'];
    const { signal, asStream = false } = (ctx ?? {}) as SendContext;
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        request.destroy();
        reject(networkError(error, signal));
      };
      const options: RequestOptions = {
        ...target,
        method,
        headers: sent,
        ...(signal === undefined ? {} : { signal }),
      };
      const isTls = target.protocol === 'https:';
      const request = isTls
        ? httpsRequest({ ...options, agent: this.https })
        : httpRequest({ ...options, agent: this.http });
      request.on('error', fail);
      request.setTimeout(SILENCE_MS, () => fail(timedOut('the store was silent')));
      this.limitConnecting(request, isTls ? 'secureConnect' : 'connect', fail);
      request.on('response', (response) => {
        const status = response.statusCode ?? 0;
        const answer = { status, headers: response.headers as OssAnswer['headers'] };
        if (asStream && status < 300) {
          resolve({ ...answer, body: Buffer.alloc(0), stream: response });
          return;
        }
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', fail);
        response.on('aborted', () => fail(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })));
        response.on('end', () => resolve({ ...answer, body: Buffer.concat(chunks) }));
      });
      request.end(content);
    });
  }

  close(): void {
    this.http.destroy();
    this.https.destroy();
  }

  private limitConnecting(
    request: ReturnType<typeof httpRequest>,
    event: 'connect' | 'secureConnect',
    fail: (error: Error) => void,
  ): void {
    const { connectTimeoutMs } = this.options;
    if (connectTimeoutMs === undefined) return;
    request.on('socket', (socket) => {
      if (!socket.connecting) return;
      const onTimeout = (): void => fail(timedOut('no connection in time'));
      socket.setTimeout(connectTimeoutMs, onTimeout);
      socket.once(event, () => {
        socket.off('timeout', onTimeout);
        socket.setTimeout(SILENCE_MS);
      });
    });
  }
}

/** Without `URL`, which would fold `..` in the path and so change the key. */
function targetOf(url: string): { protocol: string; hostname: string; port?: number; path: string } {
  const [, protocol = '', hostname = '', port, path = ''] =
    /^(https?:)\/\/(\[[^\]]*\]|[^/:]*)(?::(\d+))?(\/.*)$/s.exec(url) ?? [];
  return {
    protocol,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    path,
    ...(port === undefined ? {} : { port: Number(port) }),
  };
}

function timedOut(message: string): Error {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}
