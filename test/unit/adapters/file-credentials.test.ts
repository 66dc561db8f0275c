import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCredentials } from '../../../src/adapters/s3/file-credentials.js';
import { FileCredentials } from '../../../src/adapters/watched-credentials.js';
import { VirtualClock } from './virtual-clock.js';

describe('parseCredentials', () => {
  it('reads the JSON of credential_process', () => {
    const text =
      '{"Version":1,"AccessKeyId":"A","SecretAccessKey":"S","SessionToken":"T","Expiration":"2030-01-01T00:00:00Z"}';
    expect(parseCredentials(text)).toEqual({
      accessKeyId: 'A',
      secretAccessKey: 'S',
      sessionToken: 'T',
      expiration: new Date('2030-01-01T00:00:00Z'),
    });
  });

  it('reads the lines of a shared credentials file, the first profile', () => {
    const text =
      '# mine\n[default]\naws_access_key_id = A\r\naws_secret_access_key=S/+=\n\n[other]\naws_access_key_id = B\n';
    expect(parseCredentials(text)).toEqual({ accessKeyId: 'A', secretAccessKey: 'S/+=' });
  });

  it.each([
    ['', 'lacks'],
    ['aws_access_key_id = A', 'lacks'],
    ['{"AccessKeyId":"A","SecretAccessKey":""}', 'lacks'],
    ['{"AccessKeyId":"A","SecretAccessKey":"hush","Expiration":"soon"}', 'no date'],
    ['{"AccessKeyId":"A","SecretAccessKey":"hush"', 'no valid JSON'],
  ])('refuses %j, without quoting it', (text, reason) => {
    let message = '';
    try {
      parseCredentials(text);
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain(reason);
    expect(message).not.toContain('hush');
  });
});

describe('FileCredentials', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'commitbridge-credentials-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function write(path: string, id: string, mtimeSeconds: number): Promise<void> {
    await writeFile(path, `aws_access_key_id = ${id}\naws_secret_access_key = S\n`);
    await utimes(path, mtimeSeconds, mtimeSeconds);
  }

  it('looks at the file once a second, and at once when told so', async () => {
    const path = join(directory, 'a');
    const clock = new VirtualClock();
    const credentials = new FileCredentials(path, clock, parseCredentials);
    const id = async (): Promise<string> => (await credentials.get()).accessKeyId;
    await write(path, 'A', 1);
    expect(await id()).toBe('A');
    await write(path, 'B', 2);
    expect(await id()).toBe('A');
    await clock.advance(1_000);
    expect(await id()).toBe('B');
    await write(path, 'C', 3);
    credentials.refresh();
    expect(await id()).toBe('C');
  });

  it('is told of a file that broke, and takes it when it is whole again', async () => {
    const path = join(directory, 'b');
    const clock = new VirtualClock();
    const credentials = new FileCredentials(path, clock, parseCredentials);
    await write(path, 'A', 1);
    await credentials.get();
    await writeFile(path, '{"half');
    credentials.refresh();
    await expect(credentials.get()).rejects.toMatchObject({ kind: 'access-denied' });
    await write(path, 'B', 2);
    await expect(credentials.get()).resolves.toMatchObject({ accessKeyId: 'B' });
  });
});
