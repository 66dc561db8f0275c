import { describe, expect, it } from 'vitest';
import { AnswerParser, HttpSyntaxError } from '../../../../src/adapters/http1/answer-parser.js';

interface Read {
  readonly status: number;
  readonly body: string;
  readonly keepsAlive: boolean;
  readonly rest: string;
}

/** Of bytes that come in these pieces; `undefined` where more would have to come. */
function read(pieces: readonly Buffer[], method = 'GET'): Read | undefined {
  const parser = new AnswerParser(method, () => undefined);
  for (const [index, piece] of pieces.entries()) {
    const rest = parser.push(piece);
    if (rest === undefined) continue;
    const after = Buffer.concat([rest, ...pieces.slice(index + 1)]);
    const { status, keepsAlive, body } = parser;
    return { status, body: body.toString(), keepsAlive, rest: after.toString() };
  }
  return undefined;
}

/** In one piece, in any two, and byte by byte. */
function* waysToCut(text: string): Generator<Buffer[]> {
  const bytes = Buffer.from(text);
  yield [bytes];
  for (let at = 1; at < bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)];
  yield [...bytes].map((byte) => Buffer.from([byte]));
}

function head(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const ok = 'HTTP/1.1 200 OK';

describe('AnswerParser', () => {
  it.each<[string, string, Partial<Read>]>([
    ['a body of a length', `${head(ok, 'Content-Length: 5')}hello`, { status: 200, body: 'hello' }],
    ['no body', head('HTTP/1.1 404 Not Found', 'content-length: 0'), { status: 404, body: '' }],
    ['a status without words', head('HTTP/1.1 204 '), { status: 204, body: '' }],
    [
      'a 304 with a length',
      head('HTTP/1.1 304 Not Modified', 'content-length: 9'),
      { status: 304, body: '' },
    ],
    [
      'chunks',
      `${head(ok, 'Transfer-Encoding: chunked')}5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n`,
      { body: 'hello world' },
    ],
    [
      'chunks with trailers',
      `${head(ok, 'transfer-encoding: chunked')}A\r\n0123456789\r\n0\r\nx-sum: 1\r\nx-more: 2\r\n\r\n`,
      { body: '0123456789' },
    ],
    [
      'an answer after 100 Continue',
      head('HTTP/1.1 100 Continue') + head(ok, 'content-length: 0'),
      { body: '' },
    ],
    [
      'two equal lengths',
      `${head(ok, 'content-length: 2', 'content-length: 2')}ok`,
      { body: 'ok', keepsAlive: true },
    ],
    ['a peer that closes', head(ok, 'content-length: 0', 'Connection: close'), { keepsAlive: false }],
    ['HTTP/1.0', head('HTTP/1.0 200 OK', 'content-length: 0'), { keepsAlive: false }],
    [
      'HTTP/1.0 that goes on',
      head('HTTP/1.0 200 OK', 'content-length: 0', 'connection: Keep-Alive'),
      { keepsAlive: true },
    ],
    ['bytes behind the answer', `${head(ok, 'content-length: 2')}okHTTP/1.1 200 OK`, { rest: ok }],
  ])('%s, however it is cut', (_, text, expected) => {
    for (const pieces of waysToCut(text)) expect(read(pieces)).toMatchObject({ rest: '', ...expected });
  });

  it('an answer to HEAD has no body, whatever its length says', () => {
    for (const pieces of waysToCut(head(ok, 'content-length: 10')))
      expect(read(pieces, 'HEAD')).toMatchObject({ body: '', rest: '' });
  });

  it('without a length the body goes on until the peer closes', () => {
    const parser = new AnswerParser('GET', () => undefined);
    expect(parser.push(Buffer.from(`${head(ok)}some`))).toBeUndefined();
    expect(parser.push(Buffer.from(' more'))).toBeUndefined();
    expect(parser.end()).toBe(true);
    expect(parser.body.toString()).toBe('some more');
    expect(parser.keepsAlive).toBe(false);
  });

  it.each([
    ['within the head', 'HTTP/1.1 200 O'],
    ['within a body of a length', `${head(ok, 'content-length: 5')}hell`],
    ['within a chunk', `${head(ok, 'transfer-encoding: chunked')}5\r\nhel`],
    ['before the last chunk', `${head(ok, 'transfer-encoding: chunked')}5\r\nhello\r\n`],
  ])('a peer that closes %s breaks the answer off', (_, text) => {
    const parser = new AnswerParser('GET', () => undefined);
    expect(parser.push(Buffer.from(text))).toBeUndefined();
    expect(parser.end()).toBe(false);
  });

  it('keeps headers by their names in lower case, repeated ones as a list', () => {
    const parser = new AnswerParser('GET', () => undefined);
    parser.push(
      Buffer.from(head(ok, 'ETag: "a:b" ', 'X-A: 1', 'x-a:2', '__proto__: x', 'content-length: 0')),
    );
    expect(parser.headers['etag']).toBe('"a:b"');
    expect(parser.headers['x-a']).toEqual(['1', '2']);
  });

  it.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
    ['a change of protocol', head('HTTP/1.1 101 Switching Protocols', 'upgrade: h2c')],
    ['two lengths', head(ok, 'content-length: 1', 'content-length: 2')],
    ['a length that is none', head(ok, 'content-length: -1')],
    ['a length and chunks', head(ok, 'content-length: 1', 'transfer-encoding: chunked')],
    ['another coding', head(ok, 'transfer-encoding: gzip, chunked')],
    ['a folded header', head(ok, 'x-a: 1', ' 2', 'content-length: 0')],
    ['a space before the colon', head(ok, 'content-length : 0')],
    ['a line without a colon', head(ok, 'content-length')],
    ['a chunk without a size', `${head(ok, 'transfer-encoding: chunked')}hello\r\n`],
    ['a chunk that is longer than it says', `${head(ok, 'transfer-encoding: chunked')}2\r\nhello\r\n`],
    ['an endless head', `${ok}\r\nx: ${'a'.repeat(70_000)}`],
    ['an endless line of a chunk', `${head(ok, 'transfer-encoding: chunked')}1;${'a'.repeat(10_000)}`],
  ])('refuses %s', (_, text) => {
    expect(() => read([Buffer.from(text)])).toThrow(HttpSyntaxError);
  });
});
