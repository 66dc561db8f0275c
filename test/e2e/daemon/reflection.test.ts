import { Client, credentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Sandbox } from './daemon.js';

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.make();
});

afterEach(async () => {
  await sandbox.close();
});

/** ListServices as bytes: field 7 of ServerReflectionRequest, "*". */
const listServices = Buffer.from([0x3a, 0x01, 0x2a]);

async function askReflection(address: string, version: string): Promise<string> {
  const client = new Client(address, credentials.createInsecure());
  try {
    return await new Promise<string>((resolve, reject) => {
      const stream = client.makeBidiStreamRequest(
        `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
      );
      stream.on('data', (bytes: Buffer) => {
        resolve(bytes.toString('latin1'));
        stream.end();
      });
      stream.on('error', reject);
      stream.write(listServices);
    });
  } finally {
    client.close();
  }
}

it.each(['v1', 'v1alpha'])('lists the services, %s', async (version) => {
  const daemon = await sandbox.serve();
  const text = await askReflection(daemon.tcp, version);
  for (const name of ['JobService', 'UploadService', 'AdminService'])
    expect(text).toContain(`commitbridge.v1.${name}`);
});

it('is not there where it is switched off', async () => {
  const daemon = await sandbox.serve({ reflection: false });
  await expect(askReflection(daemon.tcp, 'v1')).rejects.toThrow('UNIMPLEMENTED');
});
