import { StoreError, type ObjectHead } from '../../ports/object-store.js';
import { headerOf, type HttpAnswer } from '../lean-transport.js';
import { elementOf } from '../xml-text.js';
import { kindOfCode } from './s3-errors.js';

/** An answer that is no success, in the shape that `toStoreError` knows from the SDK. */
export function errorOf({ status, headers, body }: HttpAnswer): Error {
  const text = body.toString();
  return Object.assign(new Error(elementOf(text, 'Message') ?? ''), {
    name: elementOf(text, 'Code') ?? 'Error',
    $metadata: { httpStatusCode: status },
    $response: { statusCode: status, headers },
  });
}

/** There is no object of that key; a 404 by itself may speak of the bucket, or be a proxy's. An error's stack costs more than the answer. */
export function isNoSuchKey({ status, body }: HttpAnswer): boolean {
  return status === 404 && kindOfCode(elementOf(body.toString(), 'Code')) === 'not-found';
}

/** Of a success, whose header or element it must have. */
export function required(value: string | undefined, what: string): string {
  if (value === undefined || value === '')
    throw new StoreError('unavailable', `the answer to ${what}`, { status: 200 });
  return value;
}

const metadataPrefix = 'x-amz-meta-';

export function headOfAnswer(answer: HttpAnswer): ObjectHead {
  const lastModified = required(headerOf(answer, 'last-modified'), 'a get has no Last-Modified');
  const metadata = Object.keys(answer.headers)
    .filter((name) => name.startsWith(metadataPrefix))
    .map((name) => [name.slice(metadataPrefix.length), headerOf(answer, name) ?? ''] as const);
  return {
    etag: required(headerOf(answer, 'etag'), 'a get has no ETag'),
    sizeBytes: answer.body.length,
    lastModifiedMs: Date.parse(lastModified),
    metadata: Object.fromEntries(metadata),
  };
}
