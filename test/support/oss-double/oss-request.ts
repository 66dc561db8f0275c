import type { IncomingHttpHeaders } from 'node:http';
import { addressOf, type Address, type AddressingOptions } from './address.js';
import { OssError } from './oss-error.js';

/** A request as it came, with what is said in its line and headers taken apart. */
export interface OssRequest extends Address {
  method: string;
  /** As sent, without the query. */
  rawPath: string;
  query: OssQuery;
  /** Names in lower case; values as the bytes say in UTF-8, which is how clients sign metadata. */
  headers: ReadonlyMap<string, string>;
  host: string;
  body: Buffer;
}

/** The query, decoded, with what a key alone (`?uploads`) is told from an empty value by. */
export class OssQuery {
  readonly entries: readonly (readonly [name: string, value: string])[];

  constructor(raw: string) {
    this.entries = raw
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const equals = pair.indexOf('=');
        return equals < 0
          ? [decode(pair), '']
          : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
      });
  }

  has(name: string): boolean {
    return this.entries.some(([key]) => key === name);
  }

  get(name: string): string | undefined {
    return this.entries.find(([key]) => key === name)?.[1];
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new OssError(400, 'InvalidURI', "Couldn't parse the specified URI.");
  }
}

export function parseRequest(
  method: string,
  target: string,
  rawHeaders: IncomingHttpHeaders,
  addressing: AddressingOptions,
): OssRequest {
  const origin = /^https?:\/\/[^/?]*/i.exec(target)?.[0] ?? '';
  const rest = target.slice(origin.length);
  const mark = rest.indexOf('?');
  const rawPath = mark < 0 ? rest : rest.slice(0, mark);
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(rawHeaders)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(',') : value;
    headers.set(name, isAscii(text) ? text : Buffer.from(text, 'latin1').toString('utf8'));
  }
  const host = headers.get('host') ?? '';
  return {
    method,
    rawPath,
    query: new OssQuery(mark < 0 ? '' : rest.slice(mark + 1)),
    headers,
    host,
    body: Buffer.alloc(0),
    ...addressOf(host, rawPath, addressing),
  };
}

/** Spares most headers the way through a buffer. */
export function isAscii(text: string): boolean {
  return !/[^ -~]/.test(text);
}
