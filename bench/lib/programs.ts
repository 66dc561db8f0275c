import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDir, repoRoot } from '../../test/support/servers/index.js';
import { runTool } from '../../test/support/servers/run-tool.js';

const directory = join(cacheDir, 'bench');

/** Compiles the programs of `bench/go`, which Go does once, and says where they are. */
export async function buildPrograms(): Promise<Record<'sink' | 'complete' | 'ceiling', string>> {
  await mkdir(directory, { recursive: true });
  await runTool('go', ['build', '-o', `${directory}/`, './...'], {
    purpose: 'the benchmark’s sink and its aws-sdk-go-v2 loop',
    cwd: join(repoRoot, 'bench/go'),
  });
  const [sink, complete, ceiling] = ['sink', 'complete', 'ceiling'].map((name) => join(directory, name));
  return { sink: sink ?? '', complete: complete ?? '', ceiling: ceiling ?? '' };
}
