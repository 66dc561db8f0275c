import type { Readable } from 'node:stream';
import type { Clock } from '../../ports/clock.js';
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
import { isStoreError, StoreError } from '../../ports/object-store.js';
import { checkKey, checkPartNumber, checkPut } from '../check-request.js';
import { decodeKey } from '../decode-key.js';
import { headerOf, type HttpAnswer } from '../lean-transport.js';
import { relayStream } from '../relay-stream.js';
import { requireCapability } from '../require-capability.js';
import { elementOf, escapeXml } from '../xml-text.js';
import { children, header, headOf, known, numberOf, optionalText, textOf } from './oss-answers.js';
import { OssConnection } from './oss-connection.js';
import { isNoSuchKey, networkError } from './oss-errors.js';
import { listObjects, listParts, listUploads } from './oss-listings.js';
import { OSS_CAPABILITIES, type OssStoreOptions } from './oss-options.js';
import type { AssumeRole } from './sts-credentials.js';

const MAX_SIGNED_SECONDS = 900;
const BINARY = 'application/octet-stream';
/** Signed, so that whoever sends the part has to send it too: HTTP libraries add one of their own otherwise. */
const PART_HEADERS = { 'content-type': BINARY };

/** Aliyun OSS: ali-oss signs, and reads the XML of listings. One request a call, no retries. */
export class OssObjectStore implements ObjectStore {
  readonly capabilities: StoreCapabilities;
  private readonly connection: OssConnection;

  constructor(
    private readonly options: OssStoreOptions,
    clock: Clock,
    assumeRole?: AssumeRole,
  ) {
    this.capabilities = { ...OSS_CAPABILITIES, ...options.capabilities };
    this.connection = new OssConnection(options, clock, assumeRole);
  }

  async initiate(object: ObjectRef, options: InitiateOptions, call?: CallOptions): Promise<string> {
    checkKey(this.capabilities, object.key);
    const { body } = await this.connection.send(
      {
        ...{ method: 'POST', ...object, isXml: true },
        subresources: { uploads: '' },
        headers: this.creationHeaders(options),
      },
      call?.signal,
    );
    return known(elementOf(body.toString(), 'UploadId'), 'UploadId');
  }

  async uploadPart(
    { bucket, key, uploadId }: UploadRef,
    partNumber: number,
    body: Uint8Array,
    call?: CallOptions,
  ): Promise<PartInfo> {
    checkPartNumber(this.capabilities, partNumber);
    const answer = await this.connection.send(
      {
        ...{ method: 'PUT', bucket, key, body, headers: PART_HEADERS },
        subresources: { partNumber: String(partNumber), uploadId },
      },
      call?.signal,
    );
    return { partNumber, etag: header(answer, 'etag'), sizeBytes: body.byteLength };
  }

  async complete(
    { bucket, key, uploadId }: UploadRef,
    parts: readonly CompletedPart[],
    options: CompleteOptions,
    call?: CallOptions,
  ): Promise<PutResult> {
    if (options.ifNoneMatch !== undefined) requireCapability(this.capabilities, 'conditionalComplete');
    if (parts.length === 0) throw new StoreError('invalid-parts', 'a Complete needs at least one part');
    const named = parts.map(
      ({ partNumber, etag }) =>
        `<Part><PartNumber>${partNumber}</PartNumber><ETag>"${escapeXml(etag.replace(/^"|"$/g, ''))}"</ETag></Part>`,
    );
    const answer = await this.connection.send(
      {
        ...{ method: 'POST', bucket, key, isXml: true },
        subresources: { uploadId },
        headers: { 'content-type': 'application/xml', ...conditionHeaders(options) },
        body: Buffer.from(`<CompleteMultipartUpload>${named.join('')}</CompleteMultipartUpload>`),
      },
      call?.signal,
    );
    const text = answer.body.toString();
    const etag = text.includes('</CompleteMultipartUploadResult>') ? elementOf(text, 'ETag') : undefined;
    if (etag === undefined || etag === '')
      throw new StoreError('unavailable', 'the answer to a Complete has no ETag', { status: 200 });
    return { etag };
  }

  async abort({ bucket, key, uploadId }: UploadRef, call?: CallOptions): Promise<'aborted' | 'absent'> {
    const request = { method: 'DELETE', bucket, key, subresources: { uploadId } } as const;
    return (await this.unlessAbsent('no-such-upload', this.connection.send(request, call?.signal))) ===
      undefined
      ? 'absent'
      : 'aborted';
  }

  async listUploads(
    bucket: string,
    prefix: string,
    page: UploadPageOptions,
    call?: CallOptions,
  ): Promise<UploadPage> {
    requireCapability(this.capabilities, 'listUploadsByPrefix');
    return listUploads(this.connection, bucket, prefix, page, call);
  }

  listParts(upload: UploadRef, page: PartPageOptions, call?: CallOptions): Promise<PartPage> {
    return listParts(this.connection, upload, page, call);
  }

  async put(
    object: ObjectRef,
    body: Uint8Array,
    options: PutOptions,
    call?: CallOptions,
  ): Promise<PutResult> {
    checkPut(this.capabilities, object, options);
    const headers = this.creationHeaders(options);
    const answer = await this.connection.send(
      { method: 'PUT', ...object, headers, body, withMd5: true },
      call?.signal,
    );
    return putResult(object, options, answer);
  }

  async get(object: ObjectRef, call?: CallOptions): Promise<ObjectBody | undefined> {
    const request = { method: 'GET', ...object, isExpected: isNoSuchKey } as const;
    const answer = await this.connection.send(request, call?.signal);
    return isNoSuchKey(answer) ? undefined : { ...headOf(answer), body: answer.body };
  }

  async getStream(object: ObjectRef, call?: CallOptions): Promise<Readable> {
    const stream = await this.connection.stream({ method: 'GET', ...object }, call?.signal);
    return relayStream(stream, { toError: (cause) => networkError(cause, call?.signal) });
  }

  async head(object: ObjectRef, call?: CallOptions): Promise<ObjectHead | undefined> {
    try {
      return headOf(await this.connection.send({ method: 'HEAD', ...object }, call?.signal));
    } catch (error) {
      // As on S3: whether it is the object or the bucket that isn't there makes no difference to who asks.
      if (isStoreError(error) && error.details.status === 404) return undefined;
      throw error;
    }
  }

  async delete(object: ObjectRef, options: DeleteOptions, call?: CallOptions): Promise<'deleted' | 'absent'> {
    if (options.ifMatch !== undefined) requireCapability(this.capabilities, 'conditionalDelete');
    const sent = this.connection.send({ method: 'DELETE', ...object }, call?.signal);
    return (await this.unlessAbsent('not-found', sent)) === undefined ? 'absent' : 'deleted';
  }

  async deleteMany(bucket: string, keys: readonly string[], call?: CallOptions): Promise<DeleteManyResult> {
    if (keys.length === 0) return { failed: [] };
    const named = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`);
    const answer = await this.connection.sendForXml(
      {
        ...{ method: 'POST', bucket, withMd5: true },
        subresources: { delete: '' },
        query: { 'encoding-type': 'url' },
        headers: { 'content-type': 'application/xml' },
        // Not quiet: a store that says nothing of a key has not removed it.
        body: Buffer.from(`<Delete><Quiet>false</Quiet>${named.join('')}</Delete>`),
      },
      call?.signal,
    );
    const encoding = optionalText(answer, 'EncodingType');
    const removed = new Set(
      children(answer, 'Deleted').map((deleted) => decodeKey(textOf(deleted, 'Key'), encoding)),
    );
    return {
      failed: keys
        .filter((key) => !removed.has(key))
        .map((key) => ({ key, message: 'the store did not say that it was removed' })),
    };
  }

  list(bucket: string, prefix: string, page: ListPageOptions, call?: CallOptions): Promise<ObjectPage> {
    return listObjects(this.connection, bucket, prefix, page, call);
  }

  async presignPart(
    { bucket, key, uploadId }: UploadRef,
    partNumber: number,
    expiresInSeconds: number,
  ): Promise<SignedRequest> {
    requireCapability(this.capabilities, 'presign');
    checkPartNumber(this.capabilities, partNumber);
    const subresources = { partNumber: String(partNumber), uploadId };
    const { url, expiresAtMs } = await this.connection.presign(
      { method: 'PUT', bucket, key, subresources, headers: PART_HEADERS },
      Math.min(expiresInSeconds, MAX_SIGNED_SECONDS),
    );
    return { method: 'PUT', headers: PART_HEADERS, url, expiresAtMs };
  }

  async preparePut(object: ObjectRef, options: PutOptions, expiresInSeconds: number): Promise<PreparedPut> {
    requireCapability(this.capabilities, 'presign');
    checkPut(this.capabilities, object, options);
    const headers = this.creationHeaders(options);
    const { url, expiresAtMs, signedBy } = await this.connection.presign(
      { method: 'PUT', ...object, subresources: {}, headers },
      expiresInSeconds,
    );
    return { object, options, expiresAtMs, request: { url, headers, signedBy } };
  }

  async sendPut(prepared: PreparedPut, body: Uint8Array, call?: CallOptions): Promise<PutResult> {
    const { request, object, options } = prepared;
    if (request === undefined) throw new StoreError('invalid', 'the put was prepared by another adapter');
    const answer = await this.connection.sendSigned({ method: 'PUT', ...request, body }, call?.signal);
    return putResult(object, options, answer);
  }

  async prepareDelete(object: ObjectRef, expiresInSeconds: number): Promise<PreparedDelete> {
    requireCapability(this.capabilities, 'presign');
    const headers = {};
    const { url, expiresAtMs, signedBy } = await this.connection.presign(
      { method: 'DELETE', ...object, subresources: {}, headers },
      expiresInSeconds,
    );
    return { object, expiresAtMs, request: { url, headers, signedBy } };
  }

  async sendDelete({ request }: PreparedDelete, call?: CallOptions): Promise<'deleted' | 'absent'> {
    if (request === undefined) throw new StoreError('invalid', 'the delete was prepared by another adapter');
    const sent = this.connection.sendSigned({ method: 'DELETE', ...request }, call?.signal);
    return (await this.unlessAbsent('not-found', sent)) === undefined ? 'absent' : 'deleted';
  }

  async lifecycle(bucket: string, call?: CallOptions): Promise<readonly AbortUploadsRule[] | undefined> {
    try {
      const answer = await this.connection.sendForXml(
        { method: 'GET', bucket, subresources: { lifecycle: '' } },
        call?.signal,
      );
      return children(answer, 'Rule').flatMap((rule) => {
        const [abort] = children(rule, 'AbortMultipartUpload');
        const days = abort === undefined ? undefined : optionalText(abort, 'Days');
        if (days === undefined || textOf(rule, 'Status') !== 'Enabled') return [];
        const prefix = optionalText(rule, 'Prefix') ?? '';
        return [{ prefix, daysAfterInitiation: numberOf(days, 'Days') }];
      });
    } catch (error) {
      if (isStoreError(error) && error.details.code === 'NoSuchLifecycle') return [];
      if (isStoreError(error, 'unsupported', 'access-denied')) return undefined;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  private async unlessAbsent(
    kind: 'not-found' | 'no-such-upload',
    sent: Promise<HttpAnswer>,
  ): Promise<HttpAnswer | undefined> {
    try {
      return await sent;
    } catch (error) {
      if (isStoreError(error, kind)) return undefined;
      throw error;
    }
  }

  /** What a new object gets, whether by one put or by an upload. */
  private creationHeaders(options: PutOptions & InitiateOptions): Record<string, string> {
    const { encryption, storageClass } = this.options;
    return {
      'content-type': options.contentType ?? BINARY,
      ...conditionHeaders(options),
      ...(storageClass === undefined ? {} : { 'x-oss-storage-class': storageClass }),
      ...(encryption === undefined ? {} : { 'x-oss-server-side-encryption': encryption.mode }),
      ...(encryption?.mode === 'KMS' && encryption.kmsKeyId !== undefined
        ? { 'x-oss-server-side-encryption-key-id': encryption.kmsKeyId }
        : {}),
      ...Object.fromEntries(
        Object.entries(options.metadata ?? {}).map(([name, value]) => [`x-oss-meta-${name}`, value]),
      ),
    };
  }
}

function conditionHeaders({ ifNoneMatch }: Pick<PutOptions, 'ifNoneMatch'>): Record<string, string> {
  return ifNoneMatch === undefined ? {} : { 'x-oss-forbid-overwrite': 'true' };
}

/**
 * Buckets with versions, on or suspended, ignore `x-oss-forbid-overwrite`, and say that they have them: the put was
 * done, but nobody may decide by it.
 */
function putResult({ bucket }: ObjectRef, { oneShot }: PutOptions, answer: HttpAnswer): PutResult {
  if (oneShot === true && headerOf(answer, 'x-oss-version-id') !== undefined) {
    throw new StoreError(
      'unsupported',
      `bucket ${bucket} has versioning enabled or suspended, and OSS ignores x-oss-forbid-overwrite there`,
    );
  }
  return { etag: header(answer, 'etag') };
}
