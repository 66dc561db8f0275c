import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formats, writesFormat } from './outputs.js';
import { Stage, uri } from './stage.js';
import { everyRow, versions } from './versions.js';

// Jobs in the client's own JVM (LocalJobRunner).
describe.each(versions())('Hadoop %s, LocalJobRunner', { timeout: 300_000 }, (version) => {
  let stage: Stage;
  let input: string;
  beforeAll(async () => {
    stage = await Stage.start({ version });
    input = join(stage.gateway.home, 'words');
    await writeFile(input, 'to be or not to be\n'.repeat(100));
  }, 600_000);
  afterAll(async () => {
    await stage.stop();
  });

  it('word count of Hadoop’s examples: counts, no copy, true byte counter, nothing left', async () => {
    const since = stage.observer.lastSeq;
    const { counters } = await stage.example('wordcount', {}, `file://${input}`, uri('words'));

    expect(await stage.files('words')).toEqual(['_SUCCESS', 'part-r-00000']);
    expect(await stage.text('words', 'part-r-00000')).toBe('be\t200\nnot\t100\nor\t100\nto\t200\n');
    expect(stage.observer.counts({}, since)).not.toHaveProperty('copy');
    expect(counters.get('Bytes Written')).toBe(await stage.bytes('words'));
    await stage.expectNothingLeft('words');
  });

  it('the same job again, to the same directory: Hadoop refuses, the output stays', async () => {
    const program = await stage.gateway.startJar('mapreduce-examples', [
      ...['wordcount', `file://${input}`, uri('words')],
    ]);
    const { exitCode, output } = await program.result;
    expect(exitCode).not.toBe(0);
    expect(output).toContain('already exists');
    expect(await stage.text('words', 'part-r-00000')).toContain('be\t200');
  });

  it.each(['mapreduce', 'mapred'] as const)('%s: rows, maps alone and with reducers', async (api) => {
    const conf = { 'it.maps': 3, 'it.rows': 40 };
    const maps = `${api}/maps`;
    const { counters } = await stage.write(api, maps, { ...conf, 'mapreduce.job.reduces': 0 });
    await stage.expectOneCopy(maps, 3, 120, api === 'mapred' ? '' : 'm');
    expect(counters.get('Bytes Written')).toBe(await stage.bytes(maps));
    await stage.expectNothingLeft(maps);
    const reduces = `${api}/reduces`;
    const reduced = await stage.write(api, reduces, { ...conf, 'mapreduce.job.reduces': 2 });
    await stage.expectOneCopy(reduces, 2, 120, api === 'mapred' ? '' : 'r');
    expect(reduced.counters.get('Bytes Written')).toBe(await stage.bytes(reduces));
    await stage.expectNothingLeft(reduces);
  });

  it('a task that fails: the job fails, nothing is visible, nothing is left', async () => {
    const conf = { 'mapreduce.job.reduces': 0, 'it.fail.task': 1, 'it.fail.attempts': 1 };
    const { exitCode, output } = await (await stage.startWrite('mapreduce', 'fails', conf)).result;
    expect(exitCode).not.toBe(0);
    expect(output).toContain('The task fails on purpose');
    expect(await stage.files('fails')).toEqual([]);
    await stage.expectNothingLeft('fails');
  });

  it('another scheme goes to Hadoop’s committer', async () => {
    const directory = `file://${stage.gateway.home}/plain`;
    for (const api of ['mapreduce', 'mapred'] as const) {
      const setUps = await stage.calls('SetupJob');
      await stage.write(api, `${directory}/${api}`, { 'mapreduce.job.reduces': 2 });
      expect(await stage.calls('SetupJob')).toBe(setUps);
    }
  });

  it.each(everyRow ? formats : [])('%s: %s', async (api, format) => {
    await writesFormat(stage, api, format, `formats/${api}/${format}`);
  });
});
