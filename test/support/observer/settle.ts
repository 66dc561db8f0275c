import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Verdict } from './rules.js';

/** Does to a connection what a rule has decided instead of passing on. */
export async function settle(
  verdict: Exclude<Verdict, { do: 'pass' }>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<'answered_by_rule' | 'dropped' | 'sender_gone'> {
  if (verdict.do === 'drop') {
    response.destroy();
    return 'dropped';
  }
  if (response.destroyed) return 'sender_gone';
  request.resume(); // the sender is still writing its body and would see a broken pipe instead of the answer
  const body = Buffer.from(verdict.body ?? '');
  response.writeHead(verdict.status, {
    'Content-Type': 'application/xml',
    'Content-Length': body.length,
    ...verdict.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  await once(response, 'close');
  return 'answered_by_rule';
}
