import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServerReadableStream } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { Messages } from '../../../src/rpc/messages.js';

/** What grpc-js hands to the handler of a client's stream: a duplex whose writable side nobody ends. */
function stream() {
  const errors: Error[] = [];
  const duplex = new Duplex({ objectMode: true, read: () => undefined, write: () => undefined });
  duplex.on('error', (error) => errors.push(error));
  const call = Object.assign(duplex, { cancelled: false });
  return { call, errors, of: call as unknown as ServerReadableStream<number, unknown> };
}

async function all(messages: AsyncIterable<number>): Promise<number[]> {
  const read: number[] = [];
  for await (const message of messages) read.push(message);
  return read;
}

describe('Messages', () => {
  it('are those of the stream, whenever they come, and the stream is left alone at its end', async () => {
    const { call, errors, of } = stream();
    const read = all(new Messages(of));
    for (const message of [1, 2, 3]) {
      call.push(message);
      if (message === 2) await turn();
    }
    call.push(null);
    await expect(read).resolves.toEqual([1, 2, 3]);
    await turn();
    expect(call.destroyed).toBe(false);
    expect(errors).toEqual([]);
  });

  it('no more than asked for are taken', async () => {
    const { call, of } = stream();
    const messages = new Messages(of);
    for (const message of [1, 2, 3]) call.push(message);
    await expect(messages.next()).resolves.toEqual({ done: false, value: 1 });
    expect(call.readableLength).toBe(2);
  });

  it('a client that goes away is no fault of the daemon', async () => {
    const { call, of } = stream();
    const read = all(new Messages(of));
    call.push(1);
    await turn();
    call.cancelled = true;
    call.destroy();
    await expect(read).rejects.toMatchObject({ reason: 'INVALID_FIELD' });
    await expect(all(new Messages(of))).rejects.toMatchObject({ reason: 'INVALID_FIELD' });
  });

  it('an error of the stream that no client caused is told as it is', async () => {
    const { call, of } = stream();
    const read = all(new Messages(of));
    call.destroy(new Error('broken'));
    await expect(read).rejects.toThrow('broken');
  });

  it('who stops early throws away the rest', async () => {
    const { call, errors, of } = stream();
    call.push(1);
    call.push(2);
    for await (const message of new Messages(of)) if (message === 1) break;
    expect(call.destroyed).toBe(true);
    expect(errors).toEqual([]);
  });

  it('after one that is not what it should be, none is read', async () => {
    const { call, of } = stream();
    const refuse = (): number => {
      throw new Error('not well formed');
    };
    const read = all(new Messages(of, refuse));
    call.push(1);
    await expect(read).rejects.toThrow('not well formed');
    expect(call.destroyed).toBe(true);
  });
});
