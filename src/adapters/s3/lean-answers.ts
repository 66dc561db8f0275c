import { StoreError, type ObjectHead } from '../../ports/object-store.js';
import type { HttpAnswer } from './lean-transport.js';

/** An answer that is no success, in the shape that `toStoreError` knows from the SDK. */
export function errorOf({ status, headers, body }: HttpAnswer): Error {
  const text = body.toString();
  return Object.assign(new Error(elementOf(text, 'Message') ?? ''), {
    name: elementOf(text, 'Code') ?? 'Error',
    $metadata: { httpStatusCode: status },
    $response: { statusCode: status, headers },
  });
}

/** The text of the first element of that name, where there is a whole one. */
export function elementOf(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`);
  if (start < 0) return undefined;
  const from = start + name.length + 2;
  const end = xml.indexOf(`</${name}>`, from);
  return end < 0 ? undefined : unescapeXml(xml.slice(from, end));
}

export function headerOf({ headers }: HttpAnswer, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
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

const entities: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&' };

function unescapeXml(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name = '') => {
      if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      return entities[String(name)] ?? whole;
    },
  );
}

export function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
