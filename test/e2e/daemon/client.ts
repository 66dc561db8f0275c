import {
  type CallOptions,
  type ChannelCredentials,
  type Client,
  type ClientUnaryCall,
  type ClientWritableStream,
  credentials as grpcCredentials,
  loadPackageDefinition,
  makeGenericClientConstructor,
  type Metadata,
  type requestCallback,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { protoPath } from 'grpc-health-check';
import { type ServiceName, serviceDefinition } from '../../../src/rpc/proto.js';

type Reply = Readonly<Record<string, unknown>>;

type Methods = Client & Readonly<Record<string, unknown>>;

/** What a call ended with. */
export type Ended =
  | { readonly reply: Reply; readonly error?: never }
  | { readonly error: ServiceError; readonly reply?: never };

const deadlineMs = 10_000;

/** Calls services of a daemon without generated types: these tests look at the server, not at the protocol. */
export class TestClient {
  private readonly clients: Client[] = [];

  constructor(
    private readonly address: string,
    private readonly credentials: ChannelCredentials = grpcCredentials.createInsecure(),
  ) {}

  serverInfo(metadata?: Metadata): Promise<Ended> {
    return this.unary('commitbridge.v1.AdminService', 'getServerInfo', {}, metadata);
  }

  async unary(service: ServiceName, method: string, request: unknown, metadata?: Metadata): Promise<Ended> {
    return call(this.open(service), method, request, metadata);
  }

  /** A CommitTask stream that stays open until it is ended, and what it ended with. */
  commitTask(): { readonly stream: ClientWritableStream<unknown>; readonly ended: Promise<Ended> } {
    const client = this.open('commitbridge.v1.JobService');
    let stream!: ClientWritableStream<unknown>;
    const ended = new Promise<Ended>((resolve) => {
      const method = client['commitTask'] as (
        callback: requestCallback<Reply>,
      ) => ClientWritableStream<unknown>;
      stream = method.call(client, (error, reply) => {
        resolve(error === null ? { reply: reply ?? {} } : { error });
      });
    });
    return { stream, ended };
  }

  async health(service = ''): Promise<string> {
    const definition = loadPackageDefinition(loadSync(protoPath, { enums: String, defaults: true }));
    const { Health } = (definition['grpc'] as unknown as { health: { v1: { Health: typeof Client } } }).health
      .v1;
    const client = new Health(this.address, this.credentials) as Methods;
    this.clients.push(client);
    const ended = await call(client, 'check', { service });
    return ended.error === undefined ? String(ended.reply['status']) : ended.error.details;
  }

  close(): void {
    for (const client of this.clients) client.close();
  }

  private open(service: ServiceName): Methods {
    const Service = makeGenericClientConstructor(serviceDefinition(service), service);
    const client = new Service(this.address, this.credentials) as Methods;
    this.clients.push(client);
    return client;
  }
}

async function call(client: Methods, method: string, request: unknown, metadata?: Metadata): Promise<Ended> {
  return new Promise((resolve) => {
    const callback: requestCallback<Reply> = (error, reply) => {
      resolve(error === null ? { reply: reply ?? {} } : { error });
    };
    const options: CallOptions = { deadline: Date.now() + deadlineMs };
    const call = client[method] as (...args: readonly unknown[]) => ClientUnaryCall;
    if (metadata === undefined) call.call(client, request, options, callback);
    else call.call(client, request, metadata, options, callback);
  });
}

/** The text of the status details: enough to see a reason and a RetryInfo in it. */
export function detailsOf(error: ServiceError): string {
  const [value] = error.metadata.get('grpc-status-details-bin');
  return Buffer.isBuffer(value) ? value.toString('latin1') : '';
}
