import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { classifyRequest } from './request-kind.js';
import { countByKind, type ObservedRequest, type RequestCounts } from './observed-request.js';
import { Hold, matches, Rule, type Intervention, type RequestMatch, type Verdict } from './rules.js';

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
  /** Tags a request, for counting apart, for example what goes to the staging prefix. */
  who?: (request: ObservedRequest) => string;
}

/**
 * A reverse proxy in front of an S3 server that classifies, logs and counts every request, and lets a test choose the
 * moment of a fault by the requests it sees. Bodies are streamed and the Host header is passed on as it came, so
 * that signatures made for the observer's address still verify.
 */
export class Observer {
  readonly requests: ObservedRequest[] = [];
  readonly endpoint: string;
  private readonly rules: Rule[] = [];
  private readonly waiters = new Set<(request: ObservedRequest) => void>();
  private inFlight = 0;
  // Idle connections are closed well before a server would: a request on a closing one would be lost.
  private readonly agent = new http.Agent({ keepAlive: true, timeout: 4_000, scheduling: 'lifo' });

  private constructor(
    private readonly server: http.Server,
    private readonly options: ObserverOptions,
  ) {
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

  // --- what was seen ---

  /** Counts by kind of the requests that fit, since `since` (a `seq`; that one not included). */
  counts(match: RequestMatch = {}, since = 0): RequestCounts {
    return countByKind(this.select(match, since));
  }

  /** Counts by tag and kind. */
  countsByWho(since = 0): Record<string, RequestCounts> {
    const tags = [...new Set(this.requests.map((request) => request.who))].sort();
    return Object.fromEntries(tags.map((who) => [who, this.counts({ who }, since)]));
  }

  /** The requests that fit, in the order of arrival. */
  select(match: RequestMatch = {}, since = 0): ObservedRequest[] {
    return this.requests.filter((request) => request.seq > since && matches(match, request));
  }

  /** The number of the last request so far, for `since`. */
  get lastSeq(): number {
    return this.requests.length;
  }

  /** The first fitting request after `since`: one that was seen already, or the next. */
  async seen(match: RequestMatch, since = 0): Promise<ObservedRequest> {
    const wanted = match.nth ?? 1;
    const past = this.select(match, since);
    const found = past[wanted - 1];
    if (found !== undefined) return found;
    let missing = wanted - past.length;
    return new Promise((resolve) => {
      const waiter = (request: ObservedRequest): void => {
        if (!matches(match, request) || --missing > 0) return;
        this.waiters.delete(waiter);
        resolve(request);
      };
      this.waiters.add(waiter);
    });
  }

  /** Resolves when no request has been under way for `quietMs`. */
  async idle(quietMs = 200): Promise<void> {
    for (let since = Date.now(), seq = this.lastSeq; Date.now() - since < quietMs;) {
      await sleep(20);
      if (this.inFlight > 0 || this.lastSeq !== seq) {
        since = Date.now();
        seq = this.lastSeq;
      }
    }
  }

  // --- interventions ---

  /** Sets a rule; the first set that fits a request is the one that applies. A function stands for `before`. */
  on(match: RequestMatch, action: Intervention | NonNullable<Intervention['before']>): Rule {
    const intervention = typeof action === 'function' ? { before: action } : action;
    const rule = new Rule(match, intervention, (gone) => {
      const index = this.rules.indexOf(gone);
      if (index >= 0) this.rules.splice(index, 1);
    });
    this.rules.push(rule);
    return rule;
  }

  /** Holds one request (the first that fits, or the nth) before it is passed on. */
  holdBefore(match: RequestMatch): Hold {
    const hold = new Hold();
    this.on({ nth: 1, ...match }, { before: (request) => hold.hold(request) });
    return hold;
  }

  /** Passes one request on, and holds the reply: the effect has happened, the sender doesn't know. */
  holdAfter(match: RequestMatch): Hold {
    const hold = new Hold();
    this.on({ nth: 1, ...match }, { after: (request) => hold.hold(request) });
    return hold;
  }

  /** Answers in the server's stead; the request doesn't reach it. */
  respond(match: RequestMatch, status: number, body?: string, headers?: Record<string, string>): Rule {
    const verdict: Verdict = {
      do: 'respond',
      status,
      ...(body === undefined ? {} : { body }),
      ...(headers === undefined ? {} : { headers }),
    };
    return this.on(match, { before: () => verdict });
  }

  /** Passes on, then closes the connection instead of handing over the reply. */
  dropReply(match: RequestMatch): Rule {
    return this.on(match, { after: () => ({ do: 'drop' }) });
  }

  /** Closes the connection instead of passing on. */
  dropRequest(match: RequestMatch): Rule {
    return this.on(match, { before: () => ({ do: 'drop' }) });
  }

  /** Passes on after a while. */
  delay(match: RequestMatch, delayMs: number): Rule {
    return this.on(match, {
      before: async () => {
        await sleep(delayMs);
        return undefined;
      },
    });
  }

  /** Removes all rules; requests held now stay held. */
  clearRules(): void {
    this.rules.length = 0;
  }

  // --- the proxy ---

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const entry = this.enter(request);
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

  private enter(request: IncomingMessage): ObservedRequest {
    const method = request.method ?? '';
    const target = request.url ?? '';
    const entry: ObservedRequest = {
      ...classifyRequest(method, target, request.headers),
      seq: this.requests.length + 1,
      who: '',
      method,
      target,
      at: Date.now(),
    };
    entry.who = this.options.who?.(entry) ?? '';
    this.requests.push(entry);
    for (const waiter of [...this.waiters]) waiter(entry);
    return entry;
  }

  private async handle(
    entry: ObservedRequest,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<NonNullable<ObservedRequest['outcome']>> {
    const rule = this.rules.find((candidate) => candidate.take(entry));
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

async function settle(
  verdict: Exclude<Verdict, { do: 'pass' }>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<'answered_by_rule' | 'dropped' | 'sender_gone'> {
  if (verdict.do === 'drop') {
    response.destroy();
    return 'dropped';
  }
  if (response.destroyed) return 'sender_gone';
  request.resume(); // the sender is still writing its body and would see a broken pipe instead of the answer
  const body = Buffer.from(verdict.body ?? '');
  response.writeHead(verdict.status, {
    'Content-Type': 'application/xml',
    'Content-Length': body.length,
    ...verdict.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  await once(response, 'close');
  return 'answered_by_rule';
}
