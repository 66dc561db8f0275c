import { stat, writeFile } from 'node:fs/promises';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serviceNames } from '../../../src/rpc/proto.js';
import { detailsOf, TestClient } from './client.js';
import { memoryConfig, runCli, Sandbox } from './daemon.js';

let sandbox: Sandbox;
let clients: TestClient[];

beforeEach(async () => {
  sandbox = await Sandbox.make();
  clients = [];
});

afterEach(async () => {
  for (const client of clients) client.close();
  await sandbox.close();
});

function clientOf(address: string): TestClient {
  const client = new TestClient(address);
  clients.push(client);
  return client;
}

describe('listening', () => {
  it('answers on a unix socket and on TCP, with health for every service', async () => {
    const socket = `unix://${sandbox.path('run/cb.sock')}`;
    const daemon = await sandbox.serve({ listen: [socket, '127.0.0.1:0'] });
    expect(daemon.addresses).toEqual([socket, expect.stringMatching(/^127\.0\.0\.1:\d+$/)]);
    for (const address of daemon.addresses) {
      const client = clientOf(address);
      expect((await client.serverInfo()).reply).toMatchObject({ version: expect.any(String) as string });
      for (const name of ['', ...serviceNames]) expect(await client.health(name)).toBe('SERVING');
    }
    expect((await stat(sandbox.path('run'))).mode & 0o777).toBe(0o750);
    expect((await stat(sandbox.path('run/cb.sock'))).mode & 0o777).toBe(0o660);
    expect(await daemon.stop()).toBe(0);
    await expect(stat(sandbox.path('run/cb.sock'))).rejects.toThrow('ENOENT');
  });

  it('logs JSON on stderr only, and writes nothing to stdout', async () => {
    const daemon = await sandbox.serve();
    await clientOf(daemon.tcp).serverInfo();
    expect(await daemon.stop()).toBe(0);
    expect(daemon.otherLines).toEqual([]);
    expect(daemon.stdout).toBe('');
    expect(daemon.logs.find((line) => line['rpc'] === 'GetServerInfo')).toMatchObject({
      message: 'rpc answered',
      level: 'debug',
      code: 'OK',
      request_id: expect.any(String) as string,
    });
    expect(daemon.logs.at(-1)).toMatchObject({ message: 'stopped' });
  });

  it('takes the place of a socket whose daemon was killed', async () => {
    const listen = [`unix://${sandbox.path('cb.sock')}`];
    await (await sandbox.serve({ listen })).kill();
    expect((await stat(sandbox.path('cb.sock'))).isSocket()).toBe(true);
    const second = await sandbox.serve({ listen });
    expect(await clientOf(second.addresses[0]!).health()).toBe('SERVING');
  });

  it('refuses a socket that another daemon answers on, and leaves it alone', async () => {
    const listen = [`unix://${sandbox.path('cb.sock')}`];
    const first = await sandbox.serve({ listen });
    const { code, stderr } = await runCli([
      'serve',
      '--config',
      await sandbox.config(memoryConfig, { listen }),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `can't listen on unix://${sandbox.path('cb.sock')}: another process is listening on ${sandbox.path('cb.sock')}: stop it, or change listen`,
    );
    expect(await clientOf(first.addresses[0]!).health()).toBe('SERVING');
  });

  it('refuses a file that is no socket, and leaves it alone', async () => {
    await writeFile(sandbox.path('cb.sock'), 'precious');
    const listen = [`unix://${sandbox.path('cb.sock')}`];
    const { code, stderr } = await runCli([
      'serve',
      '--config',
      await sandbox.config(memoryConfig, { listen }),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('exists and is no socket: remove it, or change listen');
    expect((await stat(sandbox.path('cb.sock'))).size).toBe(8);
  });

  it('refuses a port that is taken', async () => {
    const first = await sandbox.serve();
    const config = await sandbox.config(memoryConfig, { listen: [first.tcp] });
    const { code, stderr } = await runCli(['serve', '--config', config]);
    expect(code).toBe(2);
    const lines = stderr.trim().split('\n');
    expect(lines.pop()).toBe(
      `can't listen on ${first.tcp}: another process is listening there (EADDRINUSE): stop it, or change listen`,
    );
    for (const line of lines) expect(() => JSON.parse(line) as unknown, line).not.toThrow();
  });
});

describe('drain', () => {
  it('ends at once where nothing runs', async () => {
    const daemon = await sandbox.serve();
    const beganMs = Date.now();
    expect(await daemon.stop()).toBe(0);
    expect(Date.now() - beganMs).toBeLessThan(3_000);
  });

  it('says NOT_SERVING and goes on answering during the notice', async () => {
    const daemon = await sandbox.serve({
      drain: { notice: '5s', grace: '5s' },
      admin: { listen: '127.0.0.1:0' },
    });
    await daemon.waitForLog('admin listening');
    expect((await fetch(`${daemon.adminUrl}/readyz`)).status).toBe(200);
    daemon.signal('SIGTERM');
    await daemon.waitForLog('drain begun');
    const client = clientOf(daemon.tcp);
    expect(await client.health()).toBe('NOT_SERVING');
    expect(await client.health('commitbridge.v1.JobService')).toBe('NOT_SERVING');
    expect((await client.serverInfo()).error).toBeUndefined();
    const ready = await fetch(`${daemon.adminUrl}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, 'the daemon is shutting down\n']);
    expect((await fetch(`${daemon.adminUrl}/healthz`)).status).toBe(200);
    expect(await daemon.exit()).toBe(0);
  });

  it('refuses new calls with UNAVAILABLE and RetryInfo while a running one ends', async () => {
    const daemon = await sandbox.serve({ drain: { notice: '0s', grace: '30s' } });
    const client = clientOf(daemon.tcp);
    const { stream, ended } = client.commitTask();
    await client.serverInfo();
    daemon.signal('SIGTERM');
    await daemon.waitForLog('drain begun');
    // The notice is over a moment after it has begun.
    let { error } = await client.serverInfo();
    for (let tries = 0; error === null && tries < 50; tries++) ({ error } = await client.serverInfo());
    expect(error?.code).toBe(status.UNAVAILABLE);
    expect(detailsOf(error!)).toContain('DRAINING');
    expect(detailsOf(error!)).toContain('google.rpc.RetryInfo');
    stream.end();
    // It was answered by the handler: there is no header.
    expect((await ended).error?.code).toBe(status.INVALID_ARGUMENT);
    expect(await daemon.exit()).toBe(0);
  });

  it('cuts calls that outlast the grace', async () => {
    const daemon = await sandbox.serve({ drain: { notice: '0s', grace: '1s' } });
    const client = clientOf(daemon.tcp);
    const { ended } = client.commitTask();
    await client.serverInfo();
    expect([await daemon.stop(), daemon.otherLines]).toEqual([0, []]);
    expect((await ended).error?.code).toBeDefined();
    expect(daemon.logs.find((line) => line['message'] === 'drain ended before its calls')).toMatchObject({
      cut_calls: 1,
    });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends at once at a second signal, %s', async (signal) => {
    const daemon = await sandbox.serve({ drain: { notice: '10m', grace: '1h' } });
    daemon.signal(signal);
    await daemon.waitForLog('drain begun');
    const beganMs = Date.now();
    daemon.signal(signal);
    expect(await daemon.exit()).toBe(0);
    expect(Date.now() - beganMs).toBeLessThan(3_000);
  });
});

describe('admin server', () => {
  it('exposes metrics of calls and of the process', async () => {
    const daemon = await sandbox.serve({ admin: { listen: '127.0.0.1:0' } });
    await daemon.waitForLog('admin listening');
    await clientOf(daemon.tcp).serverInfo();
    const text = await (await fetch(`${daemon.adminUrl}/metrics`)).text();
    expect(text).toMatch(
      /rpc_server_call_duration_seconds_count\{rpc_method="commitbridge.v1.AdminService\/GetServerInfo",rpc_response_status_code="OK"\} 1/,
    );
    expect(text).toMatch(/commitbridge_build_info\{version="[^"]+"\} 1/);
    expect(text).toContain('process_resident_memory_bytes');
    expect((await fetch(`${daemon.adminUrl}/`)).status).toBe(404);
    expect((await fetch(`${daemon.adminUrl}/metrics`, { method: 'POST' })).status).toBe(405);
  });

  it('is not ready while a store does not answer, though the daemon starts', async () => {
    const daemon = await sandbox.serve({
      stores: {
        main: {
          type: 's3',
          endpoint: 'http://127.0.0.1:1',
          credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
        },
      },
      retry: { attempts: 1 },
      admin: { listen: '127.0.0.1:0' },
    });
    await daemon.waitForLog('store does not answer');
    expect(daemon.logs.some((line) => line['message'] === 'staging root not checked')).toBe(true);
    const ready = await fetch(`${daemon.adminUrl}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([
      503,
      'store main does not answer for bucket bucket\n',
    ]);
    expect(await daemon.stop()).toBe(0);
  });
});

describe('staging', () => {
  it('that can not put conditionally keeps the daemon from starting', async () => {
    const stores = { main: { type: 'memory', capabilities: { conditionalPut: false } } };
    const { code, stderr } = await runCli([
      'serve',
      '--config',
      await sandbox.config(memoryConfig, { stores }),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('roots[0].staging (s3://bucket/.commitbridge/jobs) is on store main');
  });
});
