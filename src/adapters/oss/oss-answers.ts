import type { ObjectHead } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';
import { headerOf, type HttpAnswer } from '../lean-transport.js';

/** Parts of answers as the port has them. */

const METADATA_PREFIX = 'x-oss-meta-';

export type XmlElement = Readonly<Record<string, unknown>>;

export function headOf(answer: HttpAnswer): ObjectHead {
  return {
    etag: header(answer, 'etag'),
    sizeBytes: numberOf(header(answer, 'content-length'), 'Content-Length'),
    lastModifiedMs: dateOf(header(answer, 'last-modified'), 'Last-Modified'),
    metadata: Object.fromEntries(
      Object.keys(answer.headers)
        .filter((name) => name.startsWith(METADATA_PREFIX))
        .map((name) => [name.slice(METADATA_PREFIX.length), headerOf(answer, name) ?? '']),
    ),
  };
}

export function header(answer: HttpAnswer, name: string): string {
  return known(headerOf(answer, name), name);
}

/** The XML parser gives one child as itself, several as an array, none as nothing. */
export function children(element: XmlElement, name: string): readonly XmlElement[] {
  const found = element[name];
  if (found === undefined) return [];
  return (Array.isArray(found) ? found : [found]) as XmlElement[];
}

export function textOf(element: XmlElement, name: string): string {
  const found = element[name];
  return known(typeof found === 'string' ? found : undefined, name);
}

export function optionalText(element: XmlElement, name: string): string | undefined {
  const found = element[name];
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export function numberOf(text: string, field: string): number {
  const value = Number(text);
  return known(text === '' || Number.isNaN(value) ? undefined : value, field);
}

export function dateOf(text: string, field: string): number {
  const ms = Date.parse(text);
  return known(Number.isNaN(ms) ? undefined : ms, field);
}

/** The answer of a proxy, perhaps: the next one may be the store's own. */
export function known<T>(value: T | undefined, field: string): T {
  if (value === undefined) {
    throw new StoreError(
      'unavailable',
      `the answer is not one of OSS: it lacks ${field}; is there a proxy in between that answers itself?`,
      { status: 200 },
    );
  }
  return value;
}
