import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OssObjectStore } from '../../src/adapters/oss/oss-object-store.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import { DaemonProcess } from '../support/daemon/index.js';
import { DaemonClient, type wire } from '../support/memory-daemon/index.js';
import { OssDouble } from '../support/oss-double/index.js';

const destinations = 'tables';
const states = 'state';

let double: OssDouble;
let daemon: DaemonProcess;
let client: DaemonClient;
beforeEach(async () => {
  double = await OssDouble.start({ buckets: [destinations, states] });
  const { endpoint, region, accessKey } = double;
  const { accessKeyId, accessKeySecret } = accessKey;
  daemon = await DaemonProcess.start({
    store: { endpoint, region, accessKey: accessKeyId, secretKey: accessKeySecret },
    bucket: destinations,
    config: {
      stores: {
        main: {
          ...{ type: 'oss', endpoint, region, pathStyle: true },
          credentials: { accessKeyId, secretAccessKey: accessKeySecret },
        },
      },
      roots: [{ uri: `oss://${destinations}/`, store: 'main', staging: `oss://${states}/jobs` }],
    },
  });
  client = new DaemonClient(daemon.address);
});
afterEach(async () => {
  client.close();
  await daemon.stop();
  await double.stop();
});

/** Content of what a reader sees. */
function visible(): Record<string, string> {
  const keys = [...double.stateOf(destinations).versions.entriesFrom('')].map(([key]) => key);
  return Object.fromEntries(
    keys.flatMap((key) => {
      const object = double.stateOf(destinations).current(key);
      return object === undefined ? [] : [[key, Buffer.concat(object.chunks).toString()]];
    }),
  );
}

function openUploads(): string[] {
  return [...double.stateOf(destinations).uploads.entriesFrom('')].flatMap(([key, ofKey]) =>
    [...ofKey.entriesFrom('')].filter(([, { state }]) => state === 'open').map(() => key),
  );
}

function staged(token: string): Record<string, string> {
  const { versions } = double.stateOf(states);
  const prefix = `jobs/${token}/0/`;
  return Object.fromEntries(
    [...versions.entriesFrom(prefix)]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, [version]]) => [
        key.slice(prefix.length),
        Buffer.concat(version?.object?.chunks ?? []).toString(),
      ]),
  );
}

interface Running {
  readonly job: wire.JobRef;
  readonly uri: string;
}

async function setUp(token: string, conflictMode: 'FAIL' | 'APPEND'): Promise<Running> {
  const uri = `oss://${destinations}/t`;
  const job = { tokens: [token], jobAttempt: 0, destination: uri };
  const options = { conflictMode: `CONFLICT_MODE_${conflictMode}` } as const;
  await client.setupJob({ job, setupId: token, options, protocolVersion: 1 });
  return { job, uri };
}

/** One task with an upload and an inline file. */
async function runTask({ job, uri }: Running, keys: string, content: string): Promise<void> {
  const [token = ''] = job.tokens ?? [];
  const attempt = { task: 'm-000000', attemptNumber: 0, attemptId: `attempt_${token}` };
  const body = Buffer.from(content);
  const opened = await client.openFile({ job, attempt, uri: `${uri}/${keys}-uploaded`, partsToSign: 1 });
  const [signed] = opened.signedParts;
  const answer = await fetch(signed?.url ?? '', { method: 'PUT', body, headers: { ...signed?.headers } });
  const part = { partNumber: 1, etag: answer.headers.get('etag') ?? '', sizeBytes: body.length };
  const files: wire.ClosedFile[] = [
    { pending: opened.file, parts: [part] },
    { inline: { uri: `${uri}/${keys}-inline`, content: body } },
  ];
  await client.commitTask({ job, attempt, fileCount: files.length }, files);
}

function recordsLeft(token: string): string[] {
  return Object.keys(staged(token)).filter((name) => /^(tasks|opened)\//.test(name));
}

describe.each(['Enabled', 'Suspended'] as const)(
  'a destination whose bucket has versions, %s, with staging in one that has none',
  (versioning) => {
    beforeEach(() => {
      double.setVersioning(destinations, versioning);
    });

    it('takes uploads, inline files and the marker, at free keys and at others; each job is done', async () => {
      const first = await setUp('first', 'FAIL');
      await runTask(first, 'a', 'one');
      expect(visible()).toEqual({});
      await client.commitJob({ job: first.job });
      const marker = expect.stringContaining('"first"') as string;
      expect(visible()).toEqual({ 't/_SUCCESS': marker, 't/a-inline': 'one', 't/a-uploaded': 'one' });
      for (const [, versions] of double.stateOf(destinations).versions.entriesFrom(''))
        expect(versions).toHaveLength(1);

      const second = await setUp('second', 'APPEND');
      await runTask(second, 'a', 'two');
      await client.commitJob({ job: second.job });
      expect(visible()).toMatchObject({ 't/a-inline': 'two', 't/a-uploaded': 'two' });
      expect(visible()['t/_SUCCESS']).toContain('"second"');

      for (const token of ['first', 'second']) {
        await expect.poll(() => recordsLeft(token), { timeout: 20_000 }).toEqual([]);
        expect(JSON.parse(staged(token)['outcome.json'] ?? '{}')).toMatchObject({ outcome: 'done' });
      }
      expect(openUploads()).toEqual([]);
    });

    it('replaces, as documented, what another writer put at a key meanwhile, in mode fail too', async () => {
      const running = await setUp('late', 'FAIL');
      await runTask(running, 'a', 'ours');
      // Between the plan and the publication.
      const decided = double.holdDuring({ kind: 'put', key: /decision\.json$/ });
      const commit = client.commitJob({ job: running.job });
      await decided.held;
      for (const name of ['a-inline', 'a-uploaded']) await foreignPut(`t/${name}`);
      decided.release();
      await commit;
      expect(visible()).toMatchObject({ 't/a-inline': 'ours', 't/a-uploaded': 'ours' });
      const older = double.stateOf(destinations).versions.get('t/a-inline')?.at(0)?.object;
      // A suspended bucket keeps no versions of what it gets.
      expect(Buffer.concat(older?.chunks ?? []).toString()).toBe(
        versioning === 'Enabled' ? 'foreign' : 'ours',
      );
    });
  },
);

async function foreignPut(key: string): Promise<void> {
  const adapter = new OssObjectStore(
    {
      ...{ region: double.region, endpoint: double.endpoint, addressing: 'path' },
      credentials: { kind: 'static', ...double.accessKey },
    },
    new SystemClock(),
  );
  await adapter.put({ bucket: destinations, key }, Buffer.from('foreign'), {});
  await adapter.close();
}
