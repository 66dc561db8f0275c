import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type AddressInfo, type LookupFunction } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../../../src/adapters/http1/http.js';
import {
  ClientClosed,
  ConnectTimeout,
  Http1Pool,
  type PoolOptions,
} from '../../../../src/adapters/http1/pool.js';
import { SystemClock } from '../../../../src/adapters/system/clock.js';
import type { Clock } from '../../../../src/ports/clock.js';
import { VirtualClock } from '../virtual-clock.js';
import { startRawServer, type Accepted } from './raw-server.js';

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

type OnRequest = (connection: Accepted, request: string, index: number) => void;

async function against(
  onRequest: OnRequest,
  options: Partial<PoolOptions> = {},
  clock: Pick<Clock, 'after' | 'monotonicMs'> = new SystemClock(),
) {
  const server = await startRawServer(onRequest);
  const pool = new Http1Pool(server.origin, { maxSockets: 4, connectTimeoutMs: 5_000, ...options }, clock);
  stops.push(() => pool.close(), server.stop);
  const get = (path = '/', more: Partial<HttpRequest> = {}, signal?: AbortSignal) =>
    pool.send({ origin: server.origin, path, method: 'GET', headers: {}, ...more }, signal);
  return { ...server, get };
}

function ok(body: string, ...headers: readonly string[]): string {
  return ['HTTP/1.1 200 OK', `content-length: ${body.length}`, ...headers, '', body].join('\r\n');
}

const pathOf = (request: string): string => request.split(' ')[1] ?? '';
const echo: OnRequest = ({ socket }, request) => socket.write(ok(pathOf(request)));

describe('Http1Pool: connections', () => {
  it('one is enough for requests one after the other', async () => {
    const { get, accepted } = await against(echo);
    for (const path of ['/a', '/b', '/c']) expect((await get(path)).body.toString()).toBe(path);
    expect(accepted).toHaveLength(1);
  });

  it.each([1, 3])(
    'no more than %i where so many are allowed, and each request gets its own answer',
    async (max) => {
      const { get, accepted } = await against(echo, { maxSockets: max });
      const paths = Array.from({ length: 50 }, (_, index) => `/${index}`);
      const answers = await Promise.all(paths.map(async (path) => (await get(path)).body.toString()));
      expect(answers).toEqual(paths);
      expect(accepted).toHaveLength(max);
    },
  );

  it('those that wait for one are sent in their order', async () => {
    const seen: string[] = [];
    const { get } = await against(
      (connection, request, index) => {
        seen.push(pathOf(request));
        echo(connection, request, index);
      },
      { maxSockets: 1 },
    );
    const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
    await Promise.all(paths.map((path) => get(path)));
    expect(seen).toEqual(paths);
  });

  it('one that the peer closes after an answer isn’t used again', async () => {
    const { get, accepted } = await against(({ socket }) => socket.write(ok('x', 'connection: close')));
    await get();
    await get();
    expect(accepted).toHaveLength(2);
  });

  it('one that the peer closed while it was idle is replaced', async () => {
    const { get, accepted } = await against(({ socket }) => {
      socket.write(ok('x'));
      setTimeout(() => socket.end(), 20);
    });
    await get();
    await sleep(100);
    expect((await get()).body.toString()).toBe('x');
    expect(accepted).toHaveLength(2);
  });

  it('one that was idle for seconds, or nearly as long as the peer says, is closed', async () => {
    for (const [keepAlive, ms] of [
      ['timeout=60', 4_000],
      ['timeout=3', 2_000],
    ] as const) {
      const clock = new VirtualClock();
      const { get, accepted } = await against(
        ({ socket }) => socket.write(ok('x', `keep-alive: ${keepAlive}`)),
        {},
        clock,
      );
      await get();
      await clock.advance(1_900);
      await get();
      expect(accepted).toHaveLength(1);
      for (let passed = 0; passed < ms; passed += 500) await clock.advance(500);
      await get();
      expect(accepted).toHaveLength(2);
    }
  });

  it('one on which something else follows the answer isn’t used again, at once or later', async () => {
    const { get, accepted } = await against((connection, request, index) => {
      const { socket } = connection;
      if (index === 0) socket.write(`${ok('first')}${ok('stray')}`);
      else if (index === 1) socket.write(ok('second'), () => setTimeout(() => socket.write(ok('stray')), 10));
      else socket.write(ok(pathOf(request)));
    });
    expect((await get('/0')).body.toString()).toBe('first');
    expect((await get('/1')).body.toString()).toBe('second');
    await sleep(100);
    expect((await get('/2')).body.toString()).toBe('/2');
    expect(accepted).toHaveLength(3);
  });

  it('a body that follows an answer to HEAD isn’t taken for the next answer', async () => {
    const { get } = await against(({ socket }, request) => {
      const isHead = request.startsWith('HEAD');
      socket.write(isHead ? 'HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\n\r\n' : ok(pathOf(request)));
      if (isHead) socket.write('stray');
    });
    const head = get('/head', { method: 'HEAD' });
    expect((await head).status).toBe(404);
    expect((await get('/next')).body.toString()).toBe('/next');
  });

  it('one whose peer answered before it had the whole body isn’t used again', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      const isFirst = connections++ === 0;
      socket.on('error', () => undefined);
      socket.once('data', () => {
        // What the kernel takes besides is far less than the body.
        if (isFirst) socket.pause();
        socket.write(`HTTP/1.1 ${isFirst ? 403 : 200} -\r\ncontent-length: 0\r\n\r\n`);
      });
      stops.push(() => void socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const pool = new Http1Pool(origin, { maxSockets: 4, connectTimeoutMs: 5_000 }, new SystemClock());
    stops.push(
      () => pool.close(),
      () => void server.close(),
    );
    const request = { origin, path: '/', method: 'PUT', headers: {} } as const;
    const refused = await pool.send({ ...request, body: Buffer.alloc(64 * 1024 * 1024) }, undefined);
    expect(refused.status).toBe(403);
    expect((await pool.send(request, undefined)).status).toBe(200);
    expect(connections).toBe(2);
  });
});

describe('Http1Pool: requests', () => {
  it('go with their headers, the host of the origin and the length of their body', async () => {
    const { get, accepted, origin } = await against(({ socket }) => socket.write(ok('')));
    await get('/a?b=c', { method: 'PUT', headers: { 'x-a': 'ü' }, body: Buffer.from('body') });
    await get('/', { headers: { Host: 'another' } });
    await get('/', { method: 'POST' });
    const [first = '', second = '', third = ''] = (accepted[0]?.received ?? '').split(/(?=GET|POST)/);
    const host = origin.slice('http://'.length);
    expect(first).toBe(
      `PUT /a?b=c HTTP/1.1\r\nx-a: \u00fc\r\nhost: ${host}\r\ncontent-length: 4\r\n\r\nbody`,
    );
    expect(second).toBe('GET / HTTP/1.1\r\nHost: another\r\n\r\n');
    expect(third).toContain('content-length: 0');
  });

  it.each([1, 65_536, 65_537, 5_000_000])('a body of %i bytes arrives whole', async (length) => {
    const { get, accepted } = await against(({ socket }) => socket.write(ok('')));
    await get('/', { method: 'PUT', body: Buffer.alloc(length, 'x') });
    expect((accepted[0]?.received ?? '').endsWith(`\r\n\r\n${'x'.repeat(length)}`)).toBe(true);
  });

  it.each<[string, Partial<HttpRequest>]>([
    ['a header with a line break', { headers: { 'x-a': 'b\r\nx-evil: 1' } }],
    ['a header that is not Latin', { headers: { 'x-a': '€' } }],
    ['a path with a space', { path: '/a b' }],
    ['a path with a line break', { path: '/a\r\nGET' }],
    ['a path that doesn’t begin', { path: 'a' }],
  ])('%s is refused, and nothing is sent', async (_, more) => {
    const { get, accepted } = await against(echo);
    await expect(get('/', more)).rejects.toBeInstanceOf(TypeError);
    expect(accepted).toHaveLength(0);
    expect((await get('/fine')).status).toBe(200);
  });
});

describe('Http1Pool: failures', () => {
  it('a signal ends a request that is under way, and its connection', async () => {
    const { get, accepted } = await against(({ socket }, request) => {
      if (pathOf(request) !== '/hang') socket.write(ok('x'));
    });
    const reason = new Error('enough');
    const controller = new AbortController();
    const hanging = get('/hang', {}, controller.signal);
    await sleep(20);
    controller.abort(reason);
    await expect(hanging).rejects.toBe(reason);
    await get('/next');
    expect(accepted).toHaveLength(2);
  });

  it('a signal ends a request that waits: it is never sent', async () => {
    const { get, accepted } = await against(() => undefined, { maxSockets: 1 });
    const first = new AbortController();
    const under = get('/first', {}, first.signal);
    await sleep(20);
    const second = new AbortController();
    const waiting = get('/second', {}, second.signal);
    second.abort(new Error('second'));
    await expect(waiting).rejects.toThrow('second');
    first.abort(new Error('first'));
    await expect(under).rejects.toThrow('first');
    await sleep(20);
    expect(accepted.map(({ received }) => pathOf(received))).toEqual(['/first']);
  });

  it('a signal that has fired already sends nothing', async () => {
    const { get, accepted } = await against(echo);
    await expect(get('/', {}, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
    expect(accepted).toHaveLength(0);
  });

  it.each<[string, OnRequest, object]>([
    ['a reset', ({ socket }) => socket.resetAndDestroy(), { code: 'ECONNRESET' }],
    ['a close without an answer', ({ socket }) => socket.end(), { code: 'ECONNRESET' }],
    [
      'a close within the answer',
      ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
      { code: 'ECONNRESET' },
    ],
    ['what is no HTTP', ({ socket }) => socket.write('SSH-2.0\r\n\r\n'), { code: 'HTTP_SYNTAX' }],
  ])('%s is told, and the next request has a connection', async (_, how, expected) => {
    const { get } = await against((connection, request, index) =>
      index === 0 ? how(connection, request, index) : echo(connection, request, index),
    );
    await expect(get('/first')).rejects.toMatchObject(expected);
    expect((await get('/next')).body.toString()).toBe('/next');
  });

  it('those that wait for a connection hear that there is no server', async () => {
    const { get, stop } = await against(echo, { maxSockets: 1 });
    await stop();
    stops.pop();
    const calls = ['/a', '/b', '/c'].map((path) =>
      expect(get(path)).rejects.toMatchObject({ code: 'ECONNREFUSED' }),
    );
    await Promise.all(calls);
  });

  it('a connection that doesn’t come about is given up', async () => {
    const clock = new VirtualClock();
    const pool = new Http1Pool(
      'http://store.test',
      // The name is never found.
      { maxSockets: 1, connectTimeoutMs: 3_000, lookup: () => undefined },
      clock,
    );
    stops.push(() => pool.close());
    const call = pool.send({ origin: 'http://store.test', path: '/', method: 'GET', headers: {} }, undefined);
    const given = expect(call).rejects.toBeInstanceOf(ConnectTimeout);
    await clock.advance(3_000);
    await given;
  });

  it('one that the peer closed while this thread was busy isn’t used, also within the reading of another socket', async () => {
    const peer = new Worker(
      `const { createServer } = require('node:net');
       const server = createServer((socket) => {
         socket.on('error', () => undefined);
         socket.on('data', () => {
           socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\\r\\n');
           setTimeout(() => socket.end(), 30);
         });
       });
       server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port));`,
      { eval: true },
    );
    stops.push(async () => {
      await peer.terminate();
    });
    const [port] = (await once(peer, 'message')) as [number];
    const origin = `http://127.0.0.1:${port}`;
    const pool = new Http1Pool(origin, { maxSockets: 4, connectTimeoutMs: 5_000 }, new SystemClock());
    stops.push(() => pool.close());
    const request = { origin, path: '/', method: 'GET', headers: {} } as const;
    await pool.send(request, undefined);
    const answer = new Promise<number>((resolve, reject) => {
      void against(() => {
        for (const until = performance.now() + 150; performance.now() < until;);
        pool.send(request, undefined).then(({ status }) => resolve(status), reject);
      }).then(({ get }) => get().catch(() => undefined));
    });
    expect(await answer).toBe(200);
  });

  it('after it was closed nothing is sent, not even what was about to be', async () => {
    const server = await startRawServer(echo);
    stops.push(server.stop);
    const pool = new Http1Pool(server.origin, { maxSockets: 1, connectTimeoutMs: 1_000 }, new SystemClock());
    const request = { origin: server.origin, path: '/', method: 'GET', headers: {} } as const;
    await pool.send(request, undefined);
    await sleep(150);
    const about = expect(pool.send(request, undefined)).rejects.toBeInstanceOf(ClientClosed);
    pool.close();
    await about;
    await expect(pool.send(request, undefined)).rejects.toBeInstanceOf(ClientClosed);
    expect(server.accepted.map(({ received }) => received.split('GET').length - 1)).toEqual([1]);
  });

  it('an address that can’t be connected to fails its request alone', async () => {
    const named = new Http1Pool(
      'http://store.test',
      { maxSockets: 1, connectTimeoutMs: 1_000, lookup: 'no function' as unknown as LookupFunction },
      new SystemClock(),
    );
    stops.push(() => named.close());
    for (let tries = 0; tries < 2; tries++)
      await expect(
        named.send({ origin: 'http://store.test', path: '/', method: 'GET', headers: {} }, undefined),
      ).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });

  it('closing ends what is under way and what waits', async () => {
    const server = await startRawServer(() => undefined);
    stops.push(server.stop);
    const pool = new Http1Pool(server.origin, { maxSockets: 1, connectTimeoutMs: 1_000 }, new SystemClock());
    const calls = ['/a', '/b'].map((path) =>
      expect(
        pool.send({ origin: server.origin, path, method: 'GET', headers: {} }, undefined),
      ).rejects.toThrow('closed'),
    );
    await sleep(20);
    pool.close();
    await Promise.all(calls);
  });
});

describe('Http1Pool: TLS', () => {
  const file = (name: string): string =>
    fileURLToPath(new URL(`../../../e2e/daemon/tls/${name}`, import.meta.url));

  async function tlsServer(): Promise<string> {
    const server = createTlsServer(
      { cert: readFileSync(file('server.pem')), key: readFileSync(file('server.key')) },
      (request, response) => response.end(request.url),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('a certificate of an unknown authority is refused', async () => {
    const origin = await tlsServer();
    const pool = new Http1Pool(origin, { maxSockets: 1, connectTimeoutMs: 5_000 }, new SystemClock());
    stops.push(() => pool.close());
    await expect(
      pool.send({ origin, path: '/', method: 'GET', headers: {} }, undefined),
    ).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  });

  it('one of an authority that the machine trusts is taken', async () => {
    const origin = await tlsServer();
    const program = `
      import { LeanTransport } from ${JSON.stringify(new URL('../../../../src/adapters/lean-transport.ts', import.meta.url).href)};
      import { SystemClock } from ${JSON.stringify(new URL('../../../../src/adapters/system/clock.ts', import.meta.url).href)};
      const transport = new LeanTransport({}, new SystemClock());
      for (const path of ['/a', '/b']) {
        const { body } = await transport.send({ origin: ${JSON.stringify(origin)}, path, method: 'GET', headers: {} });
        console.log(body.toString());
      }
      await transport.close();
    `;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', program],
      { env: { ...process.env, NODE_EXTRA_CA_CERTS: file('ca.pem') } },
    );
    expect(stdout).toBe('/a\n/b\n');
  });
});
