import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { classifyRequest } from './request-kind.js';
import type { ObservedRequest } from './observed-request.js';
import { RequestLog, type Tagger } from './request-log.js';
import { settle } from './settle.js';

/** Bodies up to this size are read whole before a rule's `before` runs; larger ones are always streamed. */
const wholeBodyLimitBytes = 8 * 1024 * 1024;

const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'upgrade',
  'transfer-encoding',
]);

export interface ObserverOptions {
  /** Of the S3 server behind. */
  endpoint: string;
  /** Without it, a free one. */
  port?: number;
  who?: Tagger;
}

/**
 * A reverse proxy in front of an S3 server that classifies, logs and counts every request, and lets a test choose the
 * moment of a fault by the requests it sees. Bodies are streamed and the Host header is passed on as it came, so
 * that signatures made for the observer's address still verify.
 */
export class Observer extends RequestLog {
  readonly endpoint: string;
  // Idle connections are closed well before a server would: a request on a closing one would be lost.
  private readonly agent = new http.Agent({ keepAlive: true, timeout: 4_000, scheduling: 'lifo' });

  private constructor(
    private readonly server: http.Server,
    private readonly options: ObserverOptions,
  ) {
    super(options.who);
    this.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => void this.serve(request, response));
  }

  static async start(options: ObserverOptions): Promise<Observer> {
    const server = http.createServer({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 60_000 });
    server.listen(options.port ?? 0, '127.0.0.1');
    await once(server, 'listening');
    return new Observer(server, options);
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    this.agent.destroy();
    await once(this.server, 'close');
  }

  // --- the proxy ---

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? '';
    const target = request.url ?? '';
    const entry = this.enter(classifyRequest(method, target, request.headers), method, target);
    const started = performance.now();
    this.inFlight += 1;
    try {
      entry.outcome = await this.handle(entry, request, response);
    } catch {
      entry.outcome = request.complete ? 'server_unreachable' : 'sender_gone';
      response.destroy();
    } finally {
      entry.durationMs = performance.now() - started;
      this.inFlight -= 1;
    }
  }

  private async handle(
    entry: ObservedRequest,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<NonNullable<ObservedRequest['outcome']>> {
    const rule = this.takeRule(entry);
    let body: Buffer | undefined;
    if (rule?.intervention.before !== undefined) {
      body = await readSmallBody(request);
      const verdict = await rule.intervention.before(entry);
      if (verdict !== undefined && verdict.do !== 'pass') return settle(verdict, request, response);
    }
    const answer = await this.forward(request, body);
    if (answer === 'sender_gone') return answer;
    entry.status = answer.statusCode ?? 0;
    if (rule?.intervention.after === undefined) return handOver(answer, answer, response);
    const answerBody = await buffer(answer);
    const verdict = await rule.intervention.after(entry);
    if (verdict !== undefined && verdict.do !== 'pass') return settle(verdict, request, response);
    return handOver(answer, answerBody, response);
  }

  /** Sends the request to the server, whole if its body was read already, and returns the head of the answer. */
  private async forward(
    request: IncomingMessage,
    body: Buffer | undefined,
  ): Promise<IncomingMessage | 'sender_gone'> {
    const { hostname, port } = new URL(this.options.endpoint);
    const upstream = http.request({
      hostname,
      port,
      method: request.method,
      path: request.url,
      headers: forwardedHeaders(request) as unknown as http.OutgoingHttpHeaders, // a flat list is allowed too
      agent: this.agent,
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      upstream.on('response', resolve);
      upstream.on('error', reject);
    });
    answered.catch(() => undefined);
    if (body !== undefined) {
      upstream.end(body);
      return answered;
    }
    try {
      // The server may answer before it has read the body, so the answer isn't awaited after the body.
      await Promise.race([pipeline(request, upstream), answered]);
    } catch (error) {
      upstream.destroy();
      if (!request.complete) return 'sender_gone';
      throw error;
    }
    return answered;
  }
}

/** Reads the body unless it is large or of unknown length. */
async function readSmallBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const length = request.headers['content-length'];
  if (length === undefined) {
    return request.headers['transfer-encoding'] === undefined ? Buffer.alloc(0) : undefined;
  }
  return Number(length) <= wholeBodyLimitBytes ? buffer(request) : undefined;
}

/** The headers as they came, in their order and case, less those that concern the connection. */
function forwardedHeaders(request: IncomingMessage): string[] {
  const headers: string[] = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] ?? '';
    // 100-continue has been answered here; no client signs it.
    if (hopByHop.has(name.toLowerCase()) || name.toLowerCase() === 'expect') continue;
    headers.push(name, request.rawHeaders[i + 1] ?? '');
  }
  if (request.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
  else if (request.headers['content-length'] === undefined && /^(POST|PUT)$/.test(request.method ?? '')) {
    headers.push('Content-Length', '0');
  }
  return headers;
}

async function handOver(
  answer: IncomingMessage,
  body: IncomingMessage | Buffer,
  response: ServerResponse,
): Promise<'answered' | 'sender_gone'> {
  const headers: string[] = [];
  for (let i = 0; i < answer.rawHeaders.length; i += 2) {
    const name = answer.rawHeaders[i] ?? '';
    if (!hopByHop.has(name.toLowerCase())) headers.push(name, answer.rawHeaders[i + 1] ?? '');
  }
  if (response.destroyed) {
    answer.resume();
    return 'sender_gone';
  }
  response.sendDate = false;
  response.writeHead(
    answer.statusCode ?? 502,
    answer.statusMessage,
    headers as unknown as http.OutgoingHttpHeaders,
  );
  try {
    if (Buffer.isBuffer(body)) {
      response.end(body);
      await once(response, 'close');
    } else await pipeline(body, response);
    return response.writableFinished ? 'answered' : 'sender_gone';
  } catch {
    response.destroy();
    return 'sender_gone';
  }
}
