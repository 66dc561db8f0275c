import type { Readable } from 'node:stream';
import type {
  AbortUploadsRule,
  CallOptions,
  CompletedPart,
  CompleteOptions,
  DeleteManyResult,
  DeleteOptions,
  InitiateOptions,
  ListPageOptions,
  ObjectBody,
  ObjectHead,
  ObjectPage,
  ObjectRef,
  ObjectStore,
  PartInfo,
  PartPage,
  PartPageOptions,
  PreparedDelete,
  PreparedPut,
  PutOptions,
  PutResult,
  SignedRequest,
  StoreCapabilities,
  UploadPage,
  UploadPageOptions,
  UploadRef,
} from '../../ports/object-store.js';

/** Kinds of requests, as they are named wherever they are counted. */
export type RequestKind =
  | 'initiate'
  | 'part'
  | 'complete'
  | 'abort'
  | 'put'
  | 'get'
  | 'get_stream'
  | 'head'
  | 'list'
  | 'list_uploads'
  | 'list_parts'
  | 'delete'
  | 'delete_many'
  | 'lifecycle';

export interface StoreRequest {
  readonly kind: RequestKind;
  /** Of the body that is sent. */
  readonly bodyBytes: number;
  /** It was signed before: sending it again sends the same signature. */
  readonly isPrepared: boolean;
}

/** Sends the request to the store below, with other options if need be. May be called again. */
export type Send<T> = (call: CallOptions) => Promise<T>;

/** A store whose every request goes through one method, whatever the request is. What decorators extend. */
export abstract class InterceptedStore implements ObjectStore {
  readonly capabilities: StoreCapabilities;

  constructor(protected readonly inner: ObjectStore) {
    this.capabilities = inner.capabilities;
  }

  protected abstract around<T>(request: StoreRequest, call: CallOptions, send: Send<T>): Promise<T>;

  initiate(object: ObjectRef, options: InitiateOptions, call?: CallOptions): Promise<string> {
    return this.through('initiate', call, (at) => this.inner.initiate(object, options, at));
  }

  uploadPart(upload: UploadRef, partNumber: number, body: Uint8Array, call?: CallOptions): Promise<PartInfo> {
    const send: Send<PartInfo> = (at) => this.inner.uploadPart(upload, partNumber, body, at);
    return this.through('part', call, send, body.byteLength);
  }

  complete(
    upload: UploadRef,
    parts: readonly CompletedPart[],
    options: CompleteOptions,
    call?: CallOptions,
  ): Promise<PutResult> {
    return this.through('complete', call, (at) => this.inner.complete(upload, parts, options, at));
  }

  abort(upload: UploadRef, call?: CallOptions): Promise<'aborted' | 'absent'> {
    return this.through('abort', call, (at) => this.inner.abort(upload, at));
  }

  listUploads(
    bucket: string,
    prefix: string,
    page: UploadPageOptions,
    call?: CallOptions,
  ): Promise<UploadPage> {
    return this.through('list_uploads', call, (at) => this.inner.listUploads(bucket, prefix, page, at));
  }

  listParts(upload: UploadRef, page: PartPageOptions, call?: CallOptions): Promise<PartPage> {
    return this.through('list_parts', call, (at) => this.inner.listParts(upload, page, at));
  }

  put(object: ObjectRef, body: Uint8Array, options: PutOptions, call?: CallOptions): Promise<PutResult> {
    const send: Send<PutResult> = (at) => this.inner.put(object, body, options, at);
    return this.through('put', call, send, body.byteLength);
  }

  get(object: ObjectRef, call?: CallOptions): Promise<ObjectBody | undefined> {
    return this.through('get', call, (at) => this.inner.get(object, at));
  }

  getStream(object: ObjectRef, call?: CallOptions): Promise<Readable> {
    return this.through('get_stream', call, (at) => this.inner.getStream(object, at));
  }

  head(object: ObjectRef, call?: CallOptions): Promise<ObjectHead | undefined> {
    return this.through('head', call, (at) => this.inner.head(object, at));
  }

  delete(object: ObjectRef, options: DeleteOptions, call?: CallOptions): Promise<'deleted' | 'absent'> {
    return this.through('delete', call, (at) => this.inner.delete(object, options, at));
  }

  deleteMany(bucket: string, keys: readonly string[], call?: CallOptions): Promise<DeleteManyResult> {
    return this.through('delete_many', call, (at) => this.inner.deleteMany(bucket, keys, at));
  }

  list(bucket: string, prefix: string, page: ListPageOptions, call?: CallOptions): Promise<ObjectPage> {
    return this.through('list', call, (at) => this.inner.list(bucket, prefix, page, at));
  }

  /** No request: nothing to repeat, limit or count. */
  presignPart(upload: UploadRef, partNumber: number, expiresInSeconds: number): Promise<SignedRequest> {
    return this.inner.presignPart(upload, partNumber, expiresInSeconds);
  }

  preparePut(object: ObjectRef, options: PutOptions, expiresInSeconds: number): Promise<PreparedPut> {
    return this.inner.preparePut(object, options, expiresInSeconds);
  }

  sendPut(prepared: PreparedPut, body: Uint8Array, call?: CallOptions): Promise<PutResult> {
    const send: Send<PutResult> = (at) => this.inner.sendPut(prepared, body, at);
    return this.through('put', call, send, body.byteLength, true);
  }

  prepareDelete(object: ObjectRef, expiresInSeconds: number): Promise<PreparedDelete> {
    return this.inner.prepareDelete(object, expiresInSeconds);
  }

  sendDelete(prepared: PreparedDelete, call?: CallOptions): Promise<'deleted' | 'absent'> {
    return this.through('delete', call, (at) => this.inner.sendDelete(prepared, at), 0, true);
  }

  lifecycle(bucket: string, call?: CallOptions): Promise<readonly AbortUploadsRule[] | undefined> {
    return this.through('lifecycle', call, (at) => this.inner.lifecycle(bucket, at));
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private through<T>(
    kind: RequestKind,
    call: CallOptions | undefined,
    send: Send<T>,
    bodyBytes = 0,
    isPrepared = false,
  ): Promise<T> {
    return this.around({ kind, bodyBytes, isPrepared }, call ?? {}, send);
  }
}
