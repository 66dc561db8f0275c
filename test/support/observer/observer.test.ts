import http from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorBody, Observer } from './index.js';

interface Arrival {
  method: string;
  target: string;
  headers: http.IncomingHttpHeaders;
  bytes: number;
}

let server: http.Server;
let arrivals: Arrival[];
let observer: Observer;

/** A server that says back how many bytes it got; GET /b/big answers with 64 MiB. */
async function startEchoServer(): Promise<http.Server> {
  const echo = http.createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => {
      arrivals.push({
        method: request.method ?? '',
        target: request.url ?? '',
        headers: request.headers,
        bytes,
      });
      if (request.url !== '/b/big') return void response.end(String(bytes));
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      let left = 64;
      const write = (): void => {
        while (left-- > 0) if (!response.write(chunk)) return void response.once('drain', write);
        response.end();
      };
      write();
    });
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  return echo;
}

beforeEach(async () => {
  arrivals = [];
  server = await startEchoServer();
  observer = await Observer.start({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    who: ({ key }) => (key.startsWith('staging/') ? 'staging' : 'data'),
  });
});

afterEach(async () => {
  await observer.stop();
  server.closeAllConnections();
  server.close();
});

async function send(
  method: string,
  target: string,
  body?: string,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(observer.endpoint + target, { method, ...(body === undefined ? {} : { body }) });
  return { status: answer.status, text: await answer.text() };
}

describe('Observer', () => {
  it('passes requests on with the Host that the sender used', async () => {
    expect(await send('PUT', '/b/k', 'hello')).toEqual({ status: 200, text: '5' });
    expect(arrivals[0]?.headers.host).toBe(new URL(observer.endpoint).host);
    expect(arrivals[0]?.headers['content-length']).toBe('5');
  });

  it('keeps the target as it came', async () => {
    const socket = connect(Number(new URL(observer.endpoint).port), '127.0.0.1');
    socket.write('GET /b/a/../k%2F//x?y=%20+ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
    await once(socket.resume(), 'close');
    expect(arrivals[0]?.target).toBe('/b/a/../k%2F//x?y=%20+');
  });

  it('counts by kind and by who, and keeps a log', async () => {
    await send('POST', '/b/k?uploads');
    await send('PUT', '/b/k?partNumber=1&uploadId=U', 'x');
    const mark = observer.lastSeq;
    await send('PUT', '/b/staging/r', 'x');
    await send('POST', '/b/k?uploadId=U', '<x/>');
    expect(observer.counts()).toEqual({ initiate: 1, part: 1, complete: 1, put: 1 });
    expect(Object.keys(observer.counts())).toEqual(['initiate', 'part', 'complete', 'put']);
    expect(observer.counts({}, mark)).toEqual({ put: 1, complete: 1 });
    expect(observer.countsByWho()).toEqual({
      data: { initiate: 1, part: 1, complete: 1 },
      staging: { put: 1 },
    });
    expect(observer.requests[1]).toMatchObject({
      seq: 2,
      kind: 'part',
      bucket: 'b',
      key: 'k',
      uploadId: 'U',
      status: 200,
    });
  });

  it('streams large bodies both ways', async () => {
    const body = 'x'.repeat(32 * 1024 * 1024);
    expect(await send('PUT', '/b/k', body)).toEqual({ status: 200, text: String(body.length) });
    expect((await send('GET', '/b/big')).text).toHaveLength(64 * 1024 * 1024);
  });

  it('passes on chunked bodies', async () => {
    const body = new Blob(['a', 'b']).stream();
    const answer = await fetch(`${observer.endpoint}/b/k`, {
      method: 'PUT',
      body,
      duplex: 'half',
    });
    expect(await answer.text()).toBe('2');
  });

  it('says when a request was seen, before or after the asking', async () => {
    const later = observer.seen({ kind: 'get', nth: 2 });
    await send('GET', '/b/1');
    await send('GET', '/b/2');
    expect((await later).key).toBe('2');
    expect((await observer.seen({ kind: 'get', key: '1' })).seq).toBe(1);
  });
});

describe('interventions', () => {
  it('holds a request before the server sees it', async () => {
    const hold = observer.holdBefore({ kind: 'complete', key: /k$/ });
    const reply = send('POST', '/b/k?uploadId=U', '<x/>');
    expect((await hold.held).key).toBe('k');
    await sleep(30);
    expect(arrivals).toHaveLength(0);
    hold.release();
    expect((await reply).status).toBe(200);
    expect(arrivals).toHaveLength(1);
  });

  it('passes on a held request whose sender is gone', async () => {
    const hold = observer.holdBefore({ kind: 'put' });
    const socket = connect(Number(new URL(observer.endpoint).port), '127.0.0.1');
    socket.write('PUT /b/k HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello');
    await hold.held;
    socket.resetAndDestroy();
    await sleep(20);
    hold.release();
    await observer.idle(50);
    expect(arrivals).toMatchObject([{ bytes: 5 }]);
    expect(observer.requests[0]).toMatchObject({ status: 200, outcome: 'sender_gone' });
  });

  it('holds a reply after the effect', async () => {
    const hold = observer.holdAfter({ kind: 'put' });
    const reply = send('PUT', '/b/k', 'x');
    expect((await hold.held).status).toBe(200);
    expect(arrivals).toHaveLength(1);
    hold.release();
    expect((await reply).text).toBe('1');
  });

  it('drops a held reply', async () => {
    const hold = observer.holdAfter({ kind: 'put' });
    const reply = send('PUT', '/b/k', 'x');
    await hold.held;
    hold.drop();
    await expect(reply).rejects.toThrow();
    expect(observer.requests[0]).toMatchObject({ status: 200, outcome: 'dropped' });
  });

  it('fails a held request', async () => {
    const hold = observer.holdBefore({ kind: 'put' });
    const reply = send('PUT', '/b/k', 'x'.repeat(100));
    await hold.held;
    hold.fail(503, errorBody('SlowDown', 'slow down'));
    expect(await reply).toMatchObject({
      status: 503,
      text: expect.stringContaining('<Code>SlowDown</Code>'),
    });
    expect(arrivals).toHaveLength(0);
    expect(observer.requests[0]).not.toHaveProperty('status');
  });

  it('answers in the stead of the server, only for the nth', async () => {
    observer.respond({ kind: 'put', nth: 2 }, 500, 'no');
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await send('PUT', `/b/${i}`, 'x')).status);
    expect(statuses).toEqual([200, 500, 200]);
  });

  it('answers at most so many times, and HEAD without a body', async () => {
    observer.respond({ times: 2 }, 503, 'no');
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await send('HEAD', '/b/k')).status);
    expect(statuses).toEqual([503, 503, 200]);
  });

  it('drops requests and replies', async () => {
    observer.dropRequest({ kind: 'put', key: 'a' });
    observer.dropReply({ kind: 'put', key: 'b' });
    await expect(send('PUT', '/b/a', 'x')).rejects.toThrow();
    await expect(send('PUT', '/b/b', 'x')).rejects.toThrow();
    expect(arrivals.map(({ target }) => target)).toEqual(['/b/b']);
  });

  it('delays', async () => {
    observer.delay({ kind: 'get' }, 100);
    const started = performance.now();
    await send('GET', '/b/k');
    expect(performance.now() - started).toBeGreaterThan(95);
  });

  it('runs a callback, awaited, and stops when the rule is removed', async () => {
    const seen: string[] = [];
    const rule = observer.on({ kind: 'get' }, async ({ key }) => {
      await sleep(10);
      seen.push(key);
      return undefined;
    });
    await send('GET', '/b/1');
    rule.remove();
    await send('GET', '/b/2');
    expect(seen).toEqual(['1']);
    expect(rule.applied).toBe(1);
  });

  it('tells a server that is down from a sender that is gone', async () => {
    server.closeAllConnections();
    server.close();
    await expect(send('PUT', '/b/k', 'x')).rejects.toThrow();
    expect(observer.requests[0]?.outcome).toBe('server_unreachable');
  });
});
