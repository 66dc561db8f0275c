import { CommitterError } from './errors.js';
import { utf8Length } from './utf8.js';

/** A place in a store: `scheme://bucket/key`, nothing encoded. The key has no leading and no trailing slash. */
export interface StoreUri {
  /** `s3` for s3, s3a and s3n, which are one scheme. */
  readonly scheme: string;
  readonly bucket: string;
  /** May be empty: the bucket itself. */
  readonly key: string;
}

const pattern = /^([a-z][a-z0-9+.-]*):\/\/([^/]+)(?:\/(.*))?$/is;
const maxUriBytes = 2_048;

/**
 * Reads a URI as Hadoop's `Path.toString()` writes it, without decoding anything.
 *
 * @throws CommitterError INVALID_FIELD where it isn't one; `field` names it in the sentence.
 */
export function parseUri(text: string, field: string): StoreUri {
  const match = pattern.exec(text);
  if (match === null || utf8Length(text) > maxUriBytes) {
    throw new CommitterError(
      'INVALID_FIELD',
      `${field} must be a URI like s3a://bucket/path, at most ${maxUriBytes} bytes; got ${quote(text)}`,
    );
  }
  const [, scheme = '', bucket = '', rest = ''] = match;
  const key = rest.replace(/\/+$/, '');
  const segments = key === '' ? [] : key.split('/');
  const bad = segments.find((segment) => !isPathSegment(segment));
  if (bad !== undefined) {
    throw new CommitterError(
      'INVALID_FIELD',
      `${field} has the path segment ${quote(bad)}, which no key may have: ${quote(text)}`,
    );
  }
  return { scheme: canonicalScheme(scheme), bucket, key };
}

/**
 * Stores and gateways fold empty, `.` and `..` segments, so that two texts would name one object. Control characters
 * can't be written in the XML of S3's listings and batch deletes (Spark and Hive escape them in partition values), and
 * what isn't Unicode has no UTF-8.
 */
function isPathSegment(segment: string): boolean {
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  const hasControls = /[\x00-\x1f\x7f]/.test(segment);
  return segment !== '' && segment !== '.' && segment !== '..' && !hasControls && isUnicode(segment);
}

/** Without half a surrogate pair. */
function isUnicode(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

export function canonicalScheme(scheme: string): string {
  const lower = scheme.toLowerCase();
  return lower === 's3a' || lower === 's3n' ? 's3' : lower;
}

export function formatUri(uri: StoreUri): string {
  return uri.key === '' ? `${uri.scheme}://${uri.bucket}` : `${uri.scheme}://${uri.bucket}/${uri.key}`;
}

/** True where `uri` is `parent` or below it. */
export function isWithin(parent: StoreUri, uri: StoreUri): boolean {
  return parent.scheme === uri.scheme && parent.bucket === uri.bucket && isKeyWithin(parent.key, uri.key);
}

export function isKeyWithin(parentKey: string, key: string): boolean {
  return parentKey === '' || key === parentKey || key.startsWith(`${parentKey}/`);
}

export function joinKey(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('/');
}

/** The key of the directory that a key lies in; `''` at the top of the bucket. */
export function parentKey(key: string): string {
  const slash = key.lastIndexOf('/');
  return slash < 0 ? '' : key.slice(0, slash);
}

/** For messages: quoted, control characters escaped, cut. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
