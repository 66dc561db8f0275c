import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClassifiedRequest } from '../observer/index.js';
import { gmtTime, type Reply } from './call.js';
import { isAscii, type OssRequest } from './oss-request.js';

/** What the log keeps of a request, besides its kind. */
export function namesOf({ bucket, key, query }: OssRequest): Omit<ClassifiedRequest, 'kind'> {
  const [uploadId, partNumber] = [query.get('uploadId'), query.get('partNumber')];
  return {
    bucket,
    key,
    ...(uploadId === undefined ? {} : { uploadId }),
    ...(partNumber === undefined ? {} : { partNumber: Number(partNumber) }),
    ...(key === '' ? { prefix: query.get('prefix') ?? '' } : {}),
  };
}

export async function send(
  reply: Reply,
  requestId: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  now: number,
): Promise<'answered' | 'sender_gone'> {
  if (response.destroyed) return 'sender_gone';
  const body = reply.body ?? [];
  const length = body.reduce((sum, chunk) => sum + chunk.length, 0);
  response.sendDate = false;
  response.writeHead(
    reply.status,
    headerList({
      Server: 'AliyunOSS',
      Date: gmtTime(now),
      ...(reply.status === 204 || reply.status === 304 ? {} : { 'Content-Length': String(length) }),
      'x-oss-request-id': requestId,
      'x-oss-server-time': '1',
      ...reply.headers,
    }),
  );
  if (incoming.method !== 'HEAD') for (const chunk of body) response.write(chunk);
  response.end();
  await once(response, 'close');
  return response.writableFinished ? 'answered' : 'sender_gone';
}

/** Metadata goes back as the bytes that came, which is UTF-8. */
function headerList(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isAscii(value) ? value : Buffer.from(value).toString('latin1'),
    ]),
  );
}
