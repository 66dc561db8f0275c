import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Hold,
  RequestLog,
  settle,
  type Intervention,
  type ObservedRequest,
  type RequestKind,
  type RequestMatch,
  type Tagger,
} from '../observer/index.js';
import type { Bucket, Versioning } from './bucket.js';
import type { Reply } from './call.js';
import { KnownKeys, type AccessKey } from './credentials.js';
import { errorReply } from './error-reply.js';
import { namesOf, send } from './exchange.js';
import { OssError } from './oss-error.js';
import { parseRequest, type OssRequest } from './oss-request.js';
import { OssService } from './oss-service.js';
import type { Route } from './routes.js';
import type { QpsLimits } from './throttle.js';
import type { Upload } from './upload.js';

export interface OssDoubleOptions {
  /** Without it, a free one. */
  port?: number;
  region?: string;
  accessKey?: AccessKey;
  /** Buckets that are there from the start. */
  buckets?: readonly string[];
  /** Whether `/<bucket>/<key>` at an IP address is served (the default) or refused, as OSS does. */
  pathStyle?: 'allowed' | 'refused';
  /** Users' own domains that stand for a bucket. */
  cnames?: Readonly<Record<string, string>>;
  signatureVersions?: readonly ('v1' | 'v4')[];
  /** How long each request takes, between its checks and its effect; or by kind. */
  latencyMs?: number | ((kind: RequestKind) => number);
  /** The double's clock; without it, the system's. */
  now?: () => number;
  who?: Tagger;
}

/** What a rule of a double may also do: `during` runs when a request has been checked and not yet had its effect. */
export interface DoubleIntervention extends Intervention {
  during?: NonNullable<Intervention['before']>;
}

/** A request that is being served. */
interface Exchange {
  entry: ObservedRequest;
  requestId: string;
  /** Missing when the request's line or host couldn't be read. */
  target?: { request: OssRequest; route: Route; upload: Upload | undefined };
  error?: OssError;
}

/**
 * A double of Aliyun OSS: written from its documents and its clients, never checked against OSS itself. It keeps
 * everything in memory and speaks HTTP on 127.0.0.1. How it counts, and how a test gets in a request's way, is the
 * observer's: see RequestLog.
 */
export class OssDouble extends RequestLog {
  readonly endpoint: string;
  readonly port: number;
  readonly region: string;
  readonly accessKey: AccessKey;
  /** Also a double of the service that issues temporary credentials. */
  readonly keys: KnownKeys;
  latencyMs: OssDoubleOptions['latencyMs'];
  private readonly now: () => number;
  private readonly service: OssService;
  private readonly cnames: ReadonlyMap<string, string>;

  private constructor(
    private readonly server: http.Server,
    private readonly options: OssDoubleOptions,
  ) {
    super(options.who);
    this.port = (server.address() as AddressInfo).port;
    this.endpoint = `http://127.0.0.1:${this.port}`;
    this.region = options.region ?? 'cn-hangzhou';
    const now = (this.now = options.now ?? Date.now);
    this.accessKey = options.accessKey ?? {
      accessKeyId: 'LTAIdouble',
      accessKeySecret: randomBytes(15).toString('hex'),
    };
    this.keys = new KnownKeys(this.accessKey, now);
    this.latencyMs = options.latencyMs;
    this.cnames = new Map(Object.entries(options.cnames ?? {}));
    const signatureVersions = options.signatureVersions ?? ['v1', 'v4'];
    this.service = new OssService({ region: this.region, keys: this.keys, signatureVersions, now });
    for (const name of options.buckets ?? []) this.service.createBucket(name);
    server.on('request', (request, response) => void this.serve(request, response));
  }

  static async start(options: OssDoubleOptions = {}): Promise<OssDouble> {
    const server = http.createServer({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 60_000 });
    server.listen(options.port ?? 0, '127.0.0.1');
    await once(server, 'listening');
    return new OssDouble(server, options);
  }

  /** As a client has it that takes `loopback` for its DNS: the region's own, or a domain that is bound to a bucket. */
  endpointAt(host = `oss-${this.region}.aliyuncs.com`): string {
    return `http://${host}:${this.port}`;
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  createBucket(name: string): void {
    this.service.createBucket(name);
  }

  setVersioning(bucket: string, versioning: Versioning): void {
    this.service.setVersioning(bucket, versioning);
  }

  /** What is in a bucket now, for looking and for setting. */
  stateOf(bucket: string): Bucket {
    return this.service.stateOf(bucket);
  }

  /** Refuses with 503 what is over the limits; without any, nothing. */
  limitQps(limits: QpsLimits): void {
    this.service.limitQps(limits);
  }

  /**
   * Holds one request (the first that fits, or the nth) inside the store: it has been checked and not yet had its
   * effect. A part that is held here is in flight, which an abort doesn't stop.
   */
  holdDuring(match: RequestMatch): Hold {
    const hold = new Hold();
    const intervention: DoubleIntervention = { during: (request) => hold.hold(request) };
    this.on({ nth: 1, ...match }, intervention);
    return hold;
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.inFlight += 1;
    const started = performance.now();
    const exchange = this.begin(incoming);
    try {
      exchange.entry.outcome = await this.handle(exchange, incoming, response);
    } catch (error) {
      if (incoming.complete) throw error;
      exchange.entry.outcome = 'sender_gone';
      response.destroy();
    } finally {
      exchange.entry.durationMs = performance.now() - started;
      this.inFlight -= 1;
    }
  }

  /** What can be told from the head of a request. */
  private begin(incoming: IncomingMessage): Exchange {
    const { method = '', url = '' } = incoming;
    const requestId = randomBytes(12).toString('hex').toUpperCase();
    try {
      const request = parseRequest(method, url, incoming.headers, {
        region: this.region,
        pathStyle: this.options.pathStyle ?? 'allowed',
        cnames: this.cnames,
      });
      const route = this.service.routeOf(request);
      const entry = this.enter({ kind: route.kind, ...namesOf(request) }, method, url);
      return { entry, requestId, target: { request, route, upload: this.service.uploadOf(request) } };
    } catch (error) {
      if (!(error instanceof OssError)) throw error;
      return { entry: this.enter({ kind: 'other', bucket: '', key: '' }, method, url), requestId, error };
    }
  }

  private async handle(
    exchange: Exchange,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<NonNullable<ObservedRequest['outcome']>> {
    const { entry, target } = exchange;
    const intervention: DoubleIntervention = this.takeRule(entry)?.intervention ?? {};
    // What has arrived whole is done, also when the client goes away meanwhile.
    const body = await buffer(incoming);
    if (target !== undefined) target.request.body = body;
    if (intervention.before !== undefined) {
      const verdict = await intervention.before(entry);
      if (verdict !== undefined && verdict.do !== 'pass') return settle(verdict, incoming, response);
      // It was held outside the store and arrives there only now.
      if (target !== undefined) target.upload = this.service.uploadOf(target.request);
    }
    let reply = this.refusal(exchange, incoming);
    if (reply === undefined) {
      const latency = typeof this.latencyMs === 'function' ? this.latencyMs(entry.kind) : this.latencyMs;
      if (latency !== undefined && latency > 0) await sleep(latency);
      const verdict = await intervention.during?.(entry);
      if (verdict !== undefined && verdict.do !== 'pass') return settle(verdict, incoming, response);
      reply = this.run(exchange, incoming);
    }
    entry.status = reply.status;
    const verdict = await intervention.after?.(entry);
    if (verdict !== undefined && verdict.do !== 'pass') return settle(verdict, incoming, response);
    return send(reply, exchange.requestId, incoming, response, this.now());
  }

  private refusal({ target, error, requestId }: Exchange, incoming: IncomingMessage): Reply | undefined {
    try {
      if (target === undefined) throw error ?? new Error('neither a request nor an error');
      this.service.check(target.request);
      return undefined;
    } catch (failure) {
      return errorReply(failure, incoming.headers.host ?? '', requestId);
    }
  }

  private run({ target, requestId }: Exchange, incoming: IncomingMessage): Reply {
    try {
      const { request, route, upload } = target!;
      return this.service.run(request, route, upload);
    } catch (failure) {
      return errorReply(failure, incoming.headers.host ?? '', requestId);
    }
  }
}
