import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { serviceDefinition, type ServiceName } from '../../../src/rpc/proto.js';
import type * as wire from './wire.js';
import { RpcError } from './rpc-error.js';

interface Method {
  readonly path: string;
  requestSerialize(value: unknown): Buffer;
  responseDeserialize(bytes: Buffer): unknown;
}

/** A call under way, message by message. */
export interface ClientStream<Request, Response> {
  send(message: Request): void;
  /** Bytes as they are, for what no encoder would write. */
  sendBytes(bytes: Uint8Array): void;
  /** Half-closes the stream; the reply or the error. */
  end(): Promise<Response>;
  cancel(): void;
}

export type CommitTaskStream = ClientStream<wire.CommitTaskRequest, wire.CommitTaskResponse__Output>;

/** A client of the protocol: a method for each call, errors as {@link RpcError}. */
export class DaemonClient {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  constructor(
    readonly address: string,
    options: { readonly bearerToken?: string } = {},
  ) {
    this.#client = new Client(address, credentials.createInsecure(), {
      'grpc.max_send_message_length': -1,
      'grpc.use_local_subchannel_pool': 1,
    });
    if (options.bearerToken !== undefined)
      this.#metadata.set('authorization', `Bearer ${options.bearerToken}`);
  }

  setupJob = this.#unary<wire.SetupJobRequest, wire.SetupJobResponse__Output>('JobService', 'SetupJob');
  setupTask = this.#unary<wire.SetupTaskRequest, wire.SetupTaskResponse__Output>('JobService', 'SetupTask');
  needsTaskCommit = this.#unary<wire.NeedsTaskCommitRequest, wire.NeedsTaskCommitResponse__Output>(
    'JobService',
    'NeedsTaskCommit',
  );
  abortTask = this.#unary<wire.AbortTaskRequest, wire.AbortTaskResponse__Output>('JobService', 'AbortTask');
  commitJob = this.#unary<wire.CommitJobRequest, wire.CommitJobResponse__Output>('JobService', 'CommitJob');
  abortJob = this.#unary<wire.AbortJobRequest, wire.AbortJobResponse__Output>('JobService', 'AbortJob');
  isCommitJobRepeatable = this.#unary<
    wire.IsCommitJobRepeatableRequest,
    wire.IsCommitJobRepeatableResponse__Output
  >('JobService', 'IsCommitJobRepeatable');
  isRecoverySupported = this.#unary<
    wire.IsRecoverySupportedRequest,
    wire.IsRecoverySupportedResponse__Output
  >('JobService', 'IsRecoverySupported');
  recoverTask = this.#unary<wire.RecoverTaskRequest, wire.RecoverTaskResponse__Output>(
    'JobService',
    'RecoverTask',
  );
  openFile = this.#unary<wire.OpenFileRequest, wire.OpenFileResponse__Output>('UploadService', 'OpenFile');
  signParts = this.#unary<wire.SignPartsRequest, wire.SignPartsResponse__Output>(
    'UploadService',
    'SignParts',
  );
  closeFile = this.#unary<wire.CloseFileRequest, wire.CloseFileResponse__Output>(
    'UploadService',
    'CloseFile',
  );
  abortFile = this.#unary<wire.AbortFileRequest, wire.AbortFileResponse__Output>(
    'UploadService',
    'AbortFile',
  );
  getServerInfo = this.#unary<wire.GetServerInfoRequest, wire.GetServerInfoResponse__Output>(
    'AdminService',
    'GetServerInfo',
  );

  /** One header, then each batch as a message. */
  async commitTask(
    header: wire.CommitTaskHeader,
    ...batches: readonly (readonly wire.ClosedFile[])[]
  ): Promise<wire.CommitTaskResponse__Output> {
    const stream = this.commitTaskStream();
    const fileCount = batches.reduce((sum, files) => sum + files.length, 0);
    stream.send({ header: { ...header, fileCount } });
    for (const files of batches) stream.send({ files: { files: [...files] } });
    return stream.end();
  }

  commitTaskStream(): CommitTaskStream {
    return this.#clientStream('CommitTask');
  }

  /** The count, then each batch as a message. */
  async commitJobWithPendingsets(
    job: wire.JobRef,
    batches: readonly (readonly Buffer[])[],
    pendingsetCount = batches.flat().length,
  ): Promise<wire.CommitJobWithPendingsetsResponse__Output> {
    const stream = this.commitJobStream();
    stream.send({ header: { job, pendingsetCount } });
    for (const pendingsets of batches) stream.send({ batch: { pendingsets: [...pendingsets] } });
    return stream.end();
  }

  commitJobStream(): ClientStream<
    wire.CommitJobWithPendingsetsRequest,
    wire.CommitJobWithPendingsetsResponse__Output
  > {
    return this.#clientStream('CommitJobWithPendingsets');
  }

  #clientStream<Request, Response>(name: string): ClientStream<Request, Response> {
    const method = methodOf('JobService', name);
    let settle: (error: ServiceError | null, response: unknown) => void = () => undefined;
    const reply = new Promise<Response>((resolve, reject) => {
      settle = (error, response) => {
        if (error === null) resolve(response as Response);
        else reject(RpcError.of(error));
      };
    });
    reply.catch(() => undefined);
    const call = this.#client.makeClientStreamRequest(
      method.path,
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes) => method.responseDeserialize(bytes),
      this.#metadata,
      (error, response) => {
        settle(error, response);
      },
    );
    call.on('error', () => undefined);
    return {
      send: (message) => void call.write(method.requestSerialize(message)),
      sendBytes: (bytes) => void call.write(bytes),
      end: () => {
        call.end();
        return reply;
      },
      cancel: () => {
        call.cancel();
      },
    };
  }

  /** Sends any bytes as the request of a unary call. */
  sendBytes(service: string, method: string, bytes: Uint8Array): Promise<unknown> {
    const { path, responseDeserialize } = methodOf(service, method);
    return this.#send(path, (body: Uint8Array) => Buffer.from(body), responseDeserialize, bytes);
  }

  close(): void {
    this.#client.close();
  }

  #unary<Request, Response>(service: string, name: string): (request: Request) => Promise<Response> {
    const { path, requestSerialize, responseDeserialize } = methodOf(service, name);
    return (request) => this.#send(path, requestSerialize, responseDeserialize, request) as Promise<Response>;
  }

  #send<Request>(
    path: string,
    serialize: (value: Request) => Buffer,
    deserialize: (bytes: Buffer) => unknown,
    request: Request,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        path,
        serialize,
        deserialize,
        request,
        this.#metadata,
        (error, response) => {
          if (error === null) resolve(response);
          else reject(RpcError.of(error));
        },
      );
    });
  }
}

function methodOf(service: string, name: string): Method {
  const method = serviceDefinition(`commitbridge.v1.${service}` as ServiceName)[name];
  if (method === undefined) throw new Error(`the protos have no ${service}.${name}`);
  return method;
}
