import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import type { ManagedChild } from './child-process.js';

/** A real S3 server in a process of its own, on 127.0.0.1. */
export interface S3Server {
  readonly name: string;
  readonly endpoint: string;
  readonly port: number;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Where it keeps its data; made by the launcher and removed by `stop` unless the caller gave it. */
  readonly dir: string;
  /** Of the process that runs now. */
  readonly pid: number;
  /** Ends the process and removes `dir`, if the launcher made it. */
  stop(): Promise<void>;
  /** SIGKILL, at once; `dir` stays. */
  kill(): void;
  /** Starts it again on the same port and data, after a SIGKILL if it still runs. */
  restart(): Promise<void>;
  /** The tail of what it logged. */
  output(): string;
}

export interface S3ServerOptions {
  /** An existing directory for the data; without it a temporary one is made. */
  dir?: string;
  /** Without it, a free one. */
  port?: number;
}

export interface S3ServerSettings {
  port: number;
  dir: string;
  region: string;
  accessKey: string;
  secretKey: string;
}

const startTimeoutMs = 60_000;

/**
 * Starts a server by `launch` and waits until it answers a signed request. The secret is random, so that a stranger
 * which took the port in the meantime can't be mistaken for it.
 */
export async function startServer(
  name: string,
  options: S3ServerOptions,
  launch: (settings: S3ServerSettings) => Promise<ManagedChild>,
): Promise<S3Server> {
  const ownDir = options.dir === undefined;
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), `commitbridge-${name}-`)));
  const fixed = {
    dir,
    region: 'us-east-1',
    accessKey: 'commitbridge-test',
    secretKey: randomBytes(15).toString('hex'),
  };
  const attempts = options.port === undefined ? 3 : 1; // a free port may be taken between the look and the start
  for (let attempt = 1; ; attempt++) {
    const settings = { ...fixed, port: options.port ?? (await freePort()) };
    try {
      const child = await launchAndWait(name, settings, launch);
      return new RunningServer(name, settings, child, launch, ownDir);
    } catch (error) {
      if (attempt < attempts && /in use/i.test(String(error))) continue;
      if (ownDir) await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }
}

class RunningServer implements S3Server {
  readonly endpoint: string;
  readonly port: number;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly dir: string;

  constructor(
    readonly name: string,
    private readonly settings: S3ServerSettings,
    private child: ManagedChild,
    private readonly launch: (settings: S3ServerSettings) => Promise<ManagedChild>,
    private readonly ownDir: boolean,
  ) {
    this.endpoint = `http://127.0.0.1:${settings.port}`;
    this.port = settings.port;
    this.region = settings.region;
    this.accessKey = settings.accessKey;
    this.secretKey = settings.secretKey;
    this.dir = settings.dir;
  }

  get pid(): number {
    return this.child.pid;
  }

  output(): string {
    return this.child.output;
  }

  kill(): void {
    this.child.kill();
  }

  async restart(): Promise<void> {
    this.child.kill();
    await this.child.exited;
    this.child = await launchAndWait(this.name, this.settings, this.launch);
  }

  async stop(): Promise<void> {
    if (!this.ownDir) return this.child.stop();
    this.child.kill(); // nothing to save: the data goes too
    await this.child.exited;
    await rm(this.dir, { recursive: true, force: true });
  }
}

async function launchAndWait(
  name: string,
  settings: S3ServerSettings,
  launch: (settings: S3ServerSettings) => Promise<ManagedChild>,
): Promise<ManagedChild> {
  const child = await launch(settings);
  try {
    await untilAnswers(name, settings, child);
    return child;
  } catch (error) {
    child.kill();
    throw error;
  }
}

async function untilAnswers(name: string, settings: S3ServerSettings, child: ManagedChild): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  const client = s3Client({ ...settings, endpoint: `http://127.0.0.1:${settings.port}` }, { maxAttempts: 1 });
  let last = 'it never listened';
  try {
    for (;;) {
      if (!child.running) throw new Error(`${name} ended while starting:\n${child.output}`);
      if (Date.now() > deadline) {
        throw new Error(`${name} did not answer in ${startTimeoutMs / 1000} s (${last}):\n${child.output}`);
      }
      if (await listens(settings.port)) {
        try {
          await client.send(new ListBucketsCommand({}));
          return;
        } catch (error) {
          last = String(error);
        }
      }
      await sleep(50);
    }
  } finally {
    client.destroy();
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * A TCP port on 127.0.0.1 that nobody listens on now. Below the range that the system takes for outgoing connections,
 * one of which could have it before the server does.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const probe = createServer();
    probe.listen(10_000 + Math.floor(Math.random() * 22_000), '127.0.0.1');
    try {
      await once(probe, 'listening');
    } catch {
      continue;
    }
    const address = probe.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    probe.close();
    await once(probe, 'close');
    return address.port;
  }
}

/** What a client needs to know of a server. */
export type S3Access = Pick<S3Server, 'endpoint' | 'region' | 'accessKey' | 'secretKey'>;

/** An SDK client for a server: path style, no checksums that weren't asked for. */
export function s3Client(access: S3Access, options: { maxAttempts?: number } = {}): S3Client {
  return new S3Client({
    endpoint: access.endpoint,
    region: access.region,
    credentials: { accessKeyId: access.accessKey, secretAccessKey: access.secretKey },
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...options,
  });
}
