export interface HttpRequest {
  /** Scheme, host and port; also the `host` header where there is none. */
  readonly origin: string;
  /** With the query, encoded. */
  readonly path: string;
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** Names in lower case. */
export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: Buffer;
}

/** Told of an answer when its head arrives; the body may take minutes more. */
export type OnHead = (head: Omit<HttpAnswer, 'body'>) => void;

export function headerOf({ headers }: Pick<HttpAnswer, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** What would end a header's line, or can't be sent as it is. */
const notInHeader = /[^\t\x20-\x7e\x80-\xff]/;

export class UnsendableRequest extends TypeError {}

/**
 * The request without its body.
 *
 * @throws UnsendableRequest where the path or a header holds what can't be sent in one: it might be taken for a request more.
 */
export function headText({ origin, method, path, headers, body }: HttpRequest): string {
  if (!/^\/[\x21-\x7e]*$/.test(path)) throw new UnsendableRequest('a path holds what can’t be sent in one');
  let head = `${method} ${path} HTTP/1.1\r\n`;
  let hasHost = false;
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (notInHeader.test(value))
      throw new UnsendableRequest(`the header ${name} holds what can’t be sent in one`);
    head += `${name}: ${value}\r\n`;
    hasHost ||= name.length === 4 && name.toLowerCase() === 'host';
  }
  if (!hasHost) head += `host: ${origin.slice(origin.indexOf('//') + 2)}\r\n`;
  if (body !== undefined || method === 'PUT' || method === 'POST')
    head += `content-length: ${body?.byteLength ?? 0}\r\n`;
  return `${head}\r\n`;
}
