import { readFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { connect as tlsConnect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { credentials, Metadata, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detailsOf, TestClient } from './client.js';
import { runCli, memoryConfig, Sandbox } from './daemon.js';

const tokenA = 'token-of-etl-0123456789';
const tokenB = 'token-of-bi-0123456789';

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

function clientOf(...args: ConstructorParameters<typeof TestClient>): TestClient {
  const client = new TestClient(...args);
  clients.push(client);
  return client;
}

function bearer(token: string): Metadata {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  return metadata;
}

function tlsFile(name: string): string {
  return fileURLToPath(new URL(`tls/${name}`, import.meta.url));
}

function tlsCredentials(client?: string) {
  const ca = readFileSync(tlsFile('ca.pem'));
  if (client === undefined) return credentials.createSsl(ca);
  return credentials.createSsl(
    ca,
    readFileSync(tlsFile(`${client}.key`)),
    readFileSync(tlsFile(`${client}.pem`)),
  );
}

const bucketRoot = (principals: readonly string[]) => [
  { uri: 's3a://bucket/tables', store: 'main', principals },
];

const setupJob = (token: string) => ({
  job: { tokens: [token], jobAttempt: 0, destination: 's3a://bucket/tables/t' },
  setupId: `setup-${token}`,
  protocolVersion: 1,
});

describe('bearer tokens', () => {
  it('are asked for on TCP, not for health, and not on a unix socket', async () => {
    const tokensFile = await sandbox.write('tokens', `# callers\netl ${tokenA}\n`);
    const daemon = await sandbox.serve({
      listen: ['127.0.0.1:0', `unix://${sandbox.path('cb.sock')}`],
      auth: { tokensFile },
    });
    const client = clientOf(daemon.tcp);
    const { error } = await client.serverInfo();
    expect(error?.code).toBe(status.UNAUTHENTICATED);
    expect(error?.details).toContain('the daemon asks for a bearer token');
    expect(detailsOf(error!)).toContain('UNAUTHENTICATED');
    expect((await client.serverInfo(bearer('wrong'))).error?.details).toBe('the bearer token is not known');
    expect((await client.serverInfo(bearer(tokenA))).error).toBeUndefined();
    expect(await client.health()).toBe('SERVING');
    const local = clientOf(`unix://${sandbox.path('cb.sock')}`);
    expect((await local.serverInfo()).error).toBeUndefined();
    expect((await local.serverInfo(bearer('wrong'))).error?.code).toBe(status.UNAUTHENTICATED);
    const logged = JSON.stringify(daemon.logs);
    expect(logged).not.toContain(tokenA);
  });

  it('open the roots of their principal only', async () => {
    const tokensFile = await sandbox.write('tokens', `etl ${tokenA}\nbi ${tokenB}\n`);
    const daemon = await sandbox.serve({ auth: { tokensFile }, roots: bucketRoot(['etl']) });
    const client = clientOf(daemon.tcp);
    const setup = (id: string, token: string) =>
      client.unary('commitbridge.v1.JobService', 'setupJob', setupJob(id), bearer(token));
    expect((await setup('a', tokenA)).error).toBeUndefined();
    const { error } = await setup('b', tokenB);
    expect(error?.code).toBe(status.PERMISSION_DENIED);
    expect(detailsOf(error!)).toContain('PRINCIPAL_NOT_ALLOWED');
  });

  it('are read again when the file changes, and a bad file changes nothing', async () => {
    const tokensFile = await sandbox.write('tokens', `etl ${tokenA}\n`);
    const daemon = await sandbox.serve({ auth: { tokensFile } });
    const client = clientOf(daemon.tcp);
    expect((await client.serverInfo(bearer(tokenB))).error?.code).toBe(status.UNAUTHENTICATED);
    await sandbox.write('tokens', `etl ${tokenB}\n`);
    await daemon.waitForLog('tokens read again');
    expect((await client.serverInfo(bearer(tokenB))).error).toBeUndefined();
    expect((await client.serverInfo(bearer(tokenA))).error?.code).toBe(status.UNAUTHENTICATED);
    await sandbox.write('tokens', 'nonsense\n');
    await daemon.waitForLog('tokens not read again');
    expect((await client.serverInfo(bearer(tokenB))).error).toBeUndefined();
  });

  it.each([
    ['etl short', 'line 1 has a token of less than 16 characters'],
    ['lonely', 'line 1 must be PRINCIPAL TOKEN'],
    [`a ${tokenA}\nb ${tokenA}`, 'line 2 has a token that is there twice'],
  ])('in a bad file keep the daemon from starting: %j', async (text, sentence) => {
    const tokensFile = await sandbox.write('tokens', text);
    const config = await sandbox.config(memoryConfig, { auth: { tokensFile } });
    const { code, stderr } = await runCli(['serve', '--config', config]);
    expect(code).toBe(2);
    expect(stderr).toContain(`auth.tokensFile can't be used: ${tokensFile} ${sentence}`);
  });
});

describe('TLS', () => {
  const serverTls = { cert: tlsFile('server.pem'), key: tlsFile('server.key') };

  it('encrypts TCP and lets no plain text in', async () => {
    const daemon = await sandbox.serve({ tls: serverTls });
    expect((await clientOf(daemon.tcp, tlsCredentials()).serverInfo()).error).toBeUndefined();
    expect((await clientOf(daemon.tcp).serverInfo()).error?.code).toBe(status.UNAVAILABLE);
  });

  it('takes 1.3 only, unless the configuration says otherwise', async () => {
    const daemon = await sandbox.serve({ tls: serverTls });
    expect(await handshake(daemon.tcp, 'TLSv1.2')).not.toBe('TLSv1.2');
    expect(await handshake(daemon.tcp, 'TLSv1.3')).toBe('TLSv1.3');
    await daemon.stop();
    const older = await sandbox.serve({ tls: { ...serverTls, minVersion: '1.2' } });
    expect(await handshake(older.tcp, 'TLSv1.2')).toBe('TLSv1.2');
  });

  it('with an authority names the caller by its certificate, and refuses others', async () => {
    const daemon = await sandbox.serve({
      tls: { ...serverTls, clientCa: tlsFile('ca.pem') },
      roots: bucketRoot(['spiffe://test/etl']),
    });
    const known = clientOf(daemon.tcp, tlsCredentials('client'));
    const set = await known.unary('commitbridge.v1.JobService', 'setupJob', setupJob('job-1'));
    expect(set.error).toBeUndefined();
    expect((await clientOf(daemon.tcp, tlsCredentials('stranger')).serverInfo()).error?.code).toBe(
      status.UNAVAILABLE,
    );
    expect((await clientOf(daemon.tcp, tlsCredentials()).serverInfo()).error?.code).toBe(status.UNAVAILABLE);
  });

  it('uses renewed certificates without a restart', async () => {
    const tls = { cert: sandbox.path('tls.crt'), key: sandbox.path('tls.key') };
    await copyFile(serverTls.cert, tls.cert);
    await copyFile(serverTls.key, tls.key);
    const daemon = await sandbox.serve({ tls });
    expect(await commonName(daemon.tcp)).toBe('server');
    await copyFile(tlsFile('renewed.key'), tls.key);
    await copyFile(tlsFile('renewed.pem'), tls.cert);
    await daemon.waitForLog('certificates read again');
    await expect.poll(() => commonName(daemon.tcp), { timeout: 10_000 }).toBe('renewed');
  });

  it('that does not fit together keeps the daemon from starting', async () => {
    const tls = { cert: tlsFile('server.pem'), key: tlsFile('renewed.key') };
    const { code, stderr } = await runCli(['serve', '--config', await sandbox.config(memoryConfig, { tls })]);
    expect(code).toBe(2);
    expect(stderr).toContain("tls.cert, tls.key or tls.clientCa can't be used: ");
  });
});

/** The version agreed on, or the error. */
async function handshake(address: string, version: 'TLSv1.2' | 'TLSv1.3'): Promise<string> {
  const port = Number(address.split(':')[1]);
  return new Promise((resolve) => {
    const socket = tlsConnect(
      {
        ...{ port, host: '127.0.0.1', servername: 'localhost', ca: readFileSync(tlsFile('ca.pem')) },
        ...{ minVersion: version, maxVersion: version, ALPNProtocols: ['h2'] },
      },
      () => {
        resolve(socket.getProtocol() ?? 'none');
        socket.destroy();
      },
    );
    socket.once('error', (error: Error) => {
      resolve(error.message);
    });
  });
}

async function commonName(address: string): Promise<string> {
  const port = Number(address.split(':')[1]);
  return new Promise((resolve, reject) => {
    const ca = readFileSync(tlsFile('ca.pem'));
    const socket = tlsConnect(
      { port, host: '127.0.0.1', servername: 'localhost', ca, ALPNProtocols: ['h2'] },
      () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      },
    );
    socket.once('error', reject);
  });
}
