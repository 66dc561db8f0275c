import type {
  CallOptions,
  CompletedPart,
  CompleteOptions,
  InitiateOptions,
  ObjectBody,
  ObjectRef,
  ObjectStore,
  PutOptions,
  PutResult,
  UploadRef,
} from '../../ports/object-store.js';
import { StoreError, isStoreError } from '../../ports/object-store.js';
import { headerOf, type HttpAnswer } from '../lean-transport.js';
import { elementOf, escapeXml } from '../xml-text.js';
import { errorOf, headOfAnswer, isNoSuchKey, required } from './lean-answers.js';
import type { LeanSender, S3Request } from './lean-sender.js';
import type { S3Connection } from './s3-connection.js';
import type { S3StoreOptions } from './s3-options.js';
import { creationHeaders } from './s3-shapes.js';

/** The calls that a job makes once a file or once a task, by {@link LeanSender}: by the SDK a Complete takes 1.2–2 ms of CPU. */
export class S3HotCalls implements Pick<ObjectStore, 'initiate' | 'complete' | 'abort' | 'put' | 'get'> {
  constructor(
    private readonly connection: S3Connection,
    private readonly sender: LeanSender,
    private readonly options: S3StoreOptions,
  ) {}

  async initiate(object: ObjectRef, options: InitiateOptions, call?: CallOptions): Promise<string> {
    const headers = creationHeaders(this.options, options);
    const { body } = await this.send({ method: 'POST', object, query: { uploads: '' }, headers }, call);
    return required(elementOf(body.toString(), 'UploadId'), 'an initiate has no UploadId');
  }

  async complete(
    upload: UploadRef,
    parts: readonly CompletedPart[],
    { ifNoneMatch }: CompleteOptions,
    call?: CallOptions,
  ): Promise<PutResult> {
    const answer = await this.send(
      {
        method: 'POST',
        object: upload,
        query: { uploadId: upload.uploadId },
        headers: {
          'content-type': 'application/xml',
          ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
        },
        body: Buffer.from(completeXml(parts)),
      },
      call,
      // S3 begins its answer before it knows how it ends.
      { isError: ({ body }) => body.includes('<Error>') },
    ).catch((error: unknown) => {
      throw isStoreError(error, 'not-found') ? noSuchUpload(error) : error;
    });
    const text = answer.body.toString();
    const isWhole = text.includes('</CompleteMultipartUploadResult>');
    return { etag: required(isWhole ? elementOf(text, 'ETag') : undefined, 'a Complete has no ETag') };
  }

  async abort(upload: UploadRef, call?: CallOptions): Promise<'aborted' | 'absent'> {
    try {
      await this.send({ method: 'DELETE', object: upload, query: { uploadId: upload.uploadId } }, call);
      return 'aborted';
    } catch (error) {
      if (isStoreError(error, 'no-such-upload')) return 'absent';
      throw error;
    }
  }

  async put(
    object: ObjectRef,
    body: Uint8Array,
    options: PutOptions,
    call?: CallOptions,
  ): Promise<PutResult> {
    const headers = { ...creationHeaders(this.options, options), ...conditionHeaders(options) };
    try {
      const answer = await this.send({ method: 'PUT', object, headers, body }, call);
      return { etag: required(headerOf(answer, 'etag'), 'a put has no ETag') };
    } catch (error) {
      // S3 answers If-Match on a key without an object by NoSuchKey; the port has one word for a failed condition.
      if (options.ifMatch !== undefined && isStoreError(error, 'not-found')) {
        throw new StoreError('precondition-failed', error.message, { ...error.details, cause: error });
      }
      throw error;
    }
  }

  async get(object: ObjectRef, call?: CallOptions): Promise<ObjectBody | undefined> {
    const answer = await this.send({ method: 'GET', object }, call, { isExpected: isNoSuchKey });
    return isNoSuchKey(answer) ? undefined : { ...headOfAnswer(answer), body: answer.body };
  }

  private send(
    request: S3Request,
    call: CallOptions | undefined,
    { isError, isExpected }: Judgement = {},
  ): Promise<HttpAnswer> {
    return this.connection.run(call?.signal, async () => {
      const answer = await this.sender.send(request, call?.signal, isExpected);
      if (isError?.(answer) === true) throw errorOf(answer);
      return answer;
    });
  }
}

/** Of an answer, where its status says something else. */
interface Judgement {
  readonly isError?: (answer: HttpAnswer) => boolean;
  readonly isExpected?: (answer: HttpAnswer) => boolean;
}

export function conditionHeaders({ ifNoneMatch, ifMatch }: PutOptions): Record<string, string> {
  return {
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
  };
}

function completeXml(parts: readonly CompletedPart[]): string {
  const elements = parts.map(
    ({ partNumber, etag }) =>
      `<Part><PartNumber>${partNumber}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${elements.join('')}</CompleteMultipartUpload>`;
}

/** s3proxy answers NoSuchKey to a Complete that a concurrent abort or Complete has overtaken. */
function noSuchUpload(error: StoreError): StoreError {
  return new StoreError('no-such-upload', error.message, { ...error.details, cause: error });
}
