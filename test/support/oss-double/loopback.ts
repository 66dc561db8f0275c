import type { LookupFunction } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Agent, request } from 'undici';

/** In place of DNS: whatever the host is called, it is this machine, where the double listens. */
export const loopback: LookupFunction = (_host, options, callback) => {
  const found = { address: '127.0.0.1', family: 4 };
  if (options.all === true) callback(null, [found]);
  else callback(null, found.address, found.family);
};

const agent = new Agent({ connect: { lookup: loopback }, keepAliveTimeout: 1_000 });

/** As an executor sends a part that the adapter signed: with these headers, and no credentials. */
export async function putSigned(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Promise<{ readonly status: number; readonly etag: string | undefined; readonly body: string }> {
  const answer = await request(url, { method: 'PUT', headers, body: Buffer.from(body), dispatcher: agent });
  const etag = answer.headers['etag'];
  return {
    status: answer.statusCode,
    etag: typeof etag === 'string' ? etag : undefined,
    body: (await buffer(answer.body)).toString(),
  };
}
