import type { HttpHeaders } from './http.js';

/** What the peer sent is no answer that this client takes. */
export class HttpSyntaxError extends Error {
  readonly code = 'HTTP_SYNTAX';
}

const maxHeadBytes = 64 * 1024;
const maxLineBytes = 8 * 1024;
const endOfHead = '\r\n\r\n';
const noBytes: Buffer = Buffer.alloc(0);

type Expected = 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'close' | 'nothing';

/**
 * One answer of HTTP/1.1, as RFC 9112 has it, from the chunks in which it comes. What leaves open where an answer ends
 * is refused: a conditional PUT must not hear the answer to another request.
 */
export class AnswerParser {
  status = 0;
  headers: HttpHeaders = {};
  /** The connection takes another request after this answer. */
  keepsAlive = false;
  private expected: Expected = 'head';
  private left = 0;
  /** Of the head or of a line, what has come. */
  private kept = noBytes;
  private readonly chunks: Buffer[] = [];

  constructor(
    private readonly method: string,
    private readonly onHead: (parser: AnswerParser) => void,
  ) {}

  /** By rule, whatever its headers say. */
  get isBodiless(): boolean {
    return this.method === 'HEAD' || this.status === 204 || this.status === 304;
  }

  get body(): Buffer {
    const [only] = this.chunks;
    return this.chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.chunks);
  }

  /**
   * @returns what is left of the chunk once the answer is whole; `undefined` while it isn't.
   * @throws HttpSyntaxError
   */
  push(chunk: Buffer): Buffer | undefined {
    let rest = chunk;
    for (;;) {
      switch (this.expected) {
        case 'nothing':
          return rest;
        case 'head':
        case 'chunk-size':
        case 'trailers': {
          const after = this.takeText(rest);
          if (after === undefined) return undefined;
          rest = after;
          break;
        }
        case 'chunk-end':
        case 'length':
        case 'chunk': {
          if (rest.length === 0) return undefined;
          rest = this.takeBytes(rest);
          break;
        }
        case 'close':
          if (rest.length > 0) this.chunks.push(rest);
          return undefined;
      }
    }
  }

  /** The peer sends no more. @returns whether that was the end of the answer. */
  end(): boolean {
    return this.expected === 'close';
  }

  /** Of a head, a line with a chunk's size, or a trailer. */
  private takeText(rest: Buffer): Buffer | undefined {
    const isHead = this.expected === 'head';
    const mark = isHead ? endOfHead : '\r\n';
    const text = this.kept.length === 0 ? rest : Buffer.concat([this.kept, rest]);
    const end = text.indexOf(mark);
    const length = end < 0 ? text.length : end;
    if (length > (isHead ? maxHeadBytes : maxLineBytes)) throw new HttpSyntaxError('its head is too long');
    if (end < 0) {
      this.kept = text;
      return undefined;
    }
    this.kept = noBytes;
    if (isHead) this.readHead(text.toString('utf8', 0, end));
    else if (this.expected === 'chunk-size') this.readChunkSize(text.toString('latin1', 0, end));
    // Trailers say nothing that matters here; an empty line ends them.
    else if (end === 0) this.expected = 'nothing';
    return text.subarray(end + mark.length);
  }

  private takeBytes(rest: Buffer): Buffer {
    const part = rest.length <= this.left ? rest : rest.subarray(0, this.left);
    this.left -= part.length;
    if (this.expected === 'chunk-end') {
      if (part.some((byte) => byte !== 13 && byte !== 10))
        throw new HttpSyntaxError('a chunk is longer than it says');
    } else {
      this.chunks.push(part);
    }
    if (this.left === 0) {
      if (this.expected === 'length') this.expected = 'nothing';
      else if (this.expected === 'chunk') [this.expected, this.left] = ['chunk-end', 2];
      else this.expected = 'chunk-size';
    }
    return rest.subarray(part.length);
  }

  private readHead(text: string): void {
    const lines = text.split('\r\n');
    const status = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(lines[0] ?? '');
    if (status === null) throw new HttpSyntaxError('it is not HTTP/1.1');
    this.status = Number(status[2]);
    if (this.status === 101) throw new HttpSyntaxError('it changes the protocol');
    // 100 Continue and the like announce the answer.
    if (this.status < 200) return;
    this.headers = headersOf(lines);
    this.keepsAlive = this.isKept(status[1] === '1');
    this.expected = this.lengthOfBody();
    this.onHead(this);
  }

  private isKept(byDefault: boolean): boolean {
    const connection = listOf(this.headers['connection']);
    if (connection.includes('close')) return false;
    return byDefault || connection.includes('keep-alive');
  }

  private lengthOfBody(): Expected {
    const coding = listOf(this.headers['transfer-encoding']);
    const lengths = new Set(listOf(this.headers['content-length']));
    if (this.isBodiless) return 'nothing';
    if (coding.length > 0) {
      if (coding.length > 1 || coding[0] !== 'chunked' || lengths.size > 0)
        throw new HttpSyntaxError('it leaves open where it ends');
      return 'chunk-size';
    }
    const [length] = lengths;
    if (length === undefined) {
      this.keepsAlive = false;
      return 'close';
    }
    if (lengths.size > 1 || !/^\d{1,15}$/.test(length))
      throw new HttpSyntaxError('it leaves open where it ends');
    this.left = Number(length);
    return this.left === 0 ? 'nothing' : 'length';
  }

  private readChunkSize(line: string): void {
    const size = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line)?.[1];
    if (size === undefined) throw new HttpSyntaxError('a chunk has no size');
    this.left = parseInt(size, 16);
    this.expected = this.left === 0 ? 'trailers' : 'chunk';
  }
}

/** Below the status line. */
function headersOf(lines: readonly string[]): HttpHeaders {
  const headers: Record<string, string | string[]> = {};
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    // A space within or around it is how heads are read differently by two readers.
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) throw new HttpSyntaxError('a header has no name');
    const value = line.slice(colon + 1).trim();
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}

/** The elements of a header that is a list, in lower case. */
function listOf(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return [value]
    .flat()
    .flatMap((each) => each.split(','))
    .map((each) => each.trim().toLowerCase());
}
