import type { RunningTarget } from './conformance-target.js';

export const putByFetch: RunningTarget['putSigned'] = async (url, headers, body) => {
  const answer = await fetch(url, { method: 'PUT', headers, body: Buffer.from(body) });
  await answer.arrayBuffer();
  return { status: answer.status, etag: answer.headers.get('etag') ?? undefined };
};
