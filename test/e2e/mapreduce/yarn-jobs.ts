import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { DaemonProcess } from '../../support/daemon/index.js';
import { Gate } from '../spark/gate.js';
import { uri, type Api, type Conf, type Stage } from './stage.js';

/** A job, or a few, on a cluster; what goes wrong with it, and what must come of it. */
export interface YarnJob {
  readonly name: string;
  /** `npm test` has time for it. */
  readonly brief?: boolean;
  run(stage: Stage): Promise<void>;
}

const apis: Api[] = ['mapreduce', 'mapred'];
/** Map-only, with files that go up as parts. */
const maps = (count: number, rows = 20): Conf => ({
  ...{ 'mapreduce.job.reduces': 0, 'it.maps': count, 'it.rows': rows },
  ...{ 'it.value-bytes': 2_000, 'commitbridge.inline-limit': 0 },
});

/** Of an object in the state of a job's first attempt. */
function stateKey(job: string, name: string): string {
  return `.commitbridge/jobs/${job}/1/${name}`;
}

/** The attempts of a task that the daemon recorded. */
function puts(stage: Stage, job: string, task: string): number[] {
  return stage.observer
    .select({ kind: 'put', key: new RegExp(`^\\.commitbridge/jobs/${job}/1/tasks/${task}/`) })
    .map(({ key }) => Number(key.slice(key.lastIndexOf('/') + 1)));
}

async function restOf(stage: Stage, api: Api, directory: string, tasks: number, rows: number): Promise<void> {
  await stage.expectOneCopy(directory, tasks, rows, api === 'mapred' ? '' : 'm');
  await stage.expectNothingLeft(directory);
}

export const yarnJobs: YarnJob[] = [
  {
    name: 'word count of Hadoop’s examples',
    run: async (stage) => {
      await stage.write('mapreduce', `hdfs:///words`, { 'it.maps': 2, 'mapreduce.job.reduces': 1 });
      const { counters } = await stage.example('wordcount', {}, '/words', uri('wordcount'));
      expect(await stage.text('wordcount', 'part-r-00000')).toContain('xxxxxxxx\t100\n');
      expect(counters.get('Bytes Written')).toBe(await stage.bytes('wordcount'));
      await stage.expectNothingLeft('wordcount');
    },
  },
  {
    name: 'TeraGen, TeraSort, TeraValidate of Hadoop’s examples',
    run: async (stage) => {
      const gen = await stage.example('teragen', { 'mapreduce.job.maps': 2 }, '20000', uri('tera/in'));
      expect(gen.counters.get('Bytes Written')).toBe(2_000_000);
      const sort = { 'mapreduce.job.reduces': 2 };
      const sorted = await stage.example('terasort', sort, uri('tera/in'), uri('tera/out'));
      expect(sorted.counters.get('Bytes Written')).toBe(2_000_000);
      await stage.example('teravalidate', {}, uri('tera/out'), uri('tera/report'));
      // A checksum, and no line that names rows out of order.
      expect(await stage.text('tera/report', 'part-r-00000')).toMatch(/^checksum\t[0-9a-f]+\n$/);
      expect(stage.copiesBelow('tera')).toEqual([]);
      for (const name of ['in', 'out', 'report']) {
        expect(await stage.text(`tera/${name}`, '_SUCCESS')).toContain('commitbridge');
        await stage.expectNothingLeft(`tera/${name}`);
      }
    },
  },
  ...apis.map((api): YarnJob => ({
    name: `${api}: attempts that fail three times, by exception and by a dead JVM, succeed at the fourth`,
    run: async (stage) => {
      for (const how of ['throw', 'halt']) {
        const directory = `${api}-fails-${how}`;
        const fail = { 'it.fail.task': 1, 'it.fail.attempts': 3, 'it.fail.how': how };
        const program = await stage.startWrite(api, directory, { ...maps(2), ...fail });
        await stage.succeeds(program);
        expect(program.output.match(/Status : FAILED/g)).toHaveLength(3);
        await restOf(stage, api, directory, 2, 40);
      }
    },
  })),
  ...apis.map((api): YarnJob => ({
    name: `${api}: speculative maps and reducers, one node slow: each task’s output once`,
    run: async (stage) => {
      for (const kind of ['map', 'reduce'] as const) {
        const directory = `${api}-speculative-${kind}`;
        const conf = {
          ...maps(4),
          'it.rows': 40,
          'mapreduce.job.reduces': kind === 'map' ? 0 : 4,
          ...{ 'mapreduce.map.speculative': 'true', 'mapreduce.reduce.speculative': 'true' },
          ...{ 'it.slow.node': stage.cluster.nodes[0] ?? 0, 'it.slow.ms': 1_500 },
          ...{ 'mapreduce.job.speculative.retry-after-no-speculate': 500 },
          ...{ 'mapreduce.job.speculative.retry-after-speculate': 1_000 },
          'mapreduce.job.speculative.speculative-cap-running-tasks': 1.0,
          'mapreduce.job.speculative.slowtaskthreshold': 0.1,
        };
        const program = await stage.startWrite(api, directory, conf);
        const job = await program.jobId();
        await stage.succeeds(program);
        await stage.cluster.untilGone(job);
        const [log = ''] = await stage.cluster.applicationMasterLogs(job);
        expect(log, 'the cluster speculated').toMatch(new RegExp(`we are speculating task_\\w+_${kind[0]}_`));
        const kindLetter = api === 'mapred' ? '' : kind === 'map' ? 'm' : 'r';
        await stage.expectOneCopy(directory, 4, 160, kindLetter);
        await stage.expectNothingLeft(directory);
      }
    },
  })),
  ...(['before', 'after'] as const).map((when): YarnJob => ({
    name: `a task killed in commitTask, ${when} its record is at the store: the next attempt’s output, once`,
    run: async (stage) => {
      const directory = `killed-in-commit-${when}`;
      const program = await stage.startWrite('mapreduce', directory, maps(2));
      const job = await program.jobId();
      const record = { kind: 'put', key: stateKey(job, 'tasks/m-000001/0') } as const;
      const hold = when === 'before' ? stage.observer.holdBefore(record) : stage.observer.holdAfter(record);
      await hold.held;
      await stage.cluster.killTask(`${job.replace('job', 'attempt')}_m_000001_0`);
      hold.release();
      await stage.succeeds(program);
      // MapReduce's next attempt, and the tombstone that its application master wrote for the killed one.
      expect(puts(stage, job, 'm-000001')).toEqual(expect.arrayContaining([0, 1]));
      await restOf(stage, 'mapreduce', directory, 2, 40);
    },
  })),
  {
    name: 'a commitTask that waits for the store longer than mapreduce.task.timeout reports progress',
    run: async (stage) => {
      const timeoutMs = 20_000;
      const conf = { ...maps(1), 'mapreduce.task.timeout': timeoutMs };
      const program = await stage.startWrite('mapreduce', 'progress', conf);
      const job = await program.jobId();
      const gate = new Gate(stage.observer, { kind: 'put', key: stateKey(job, 'tasks/m-000000/0') });
      await gate.reached;
      await sleep(2 * timeoutMs);
      gate.open();
      await stage.succeeds(program);
      expect(program.output).not.toContain('Timed out');
      expect(new Set(puts(stage, job, 'm-000000'))).toEqual(new Set([0]));
      await restOf(stage, 'mapreduce', 'progress', 1, 20);
    },
  },
  {
    name: 'yarn application -kill, in the tasks and in commitJob: nothing is visible and nothing is left',
    run: async (stage) => {
      for (const moment of ['tasks', 'commit'] as const) {
        const directory = `killed-${moment}`;
        const program = await stage.startWrite('mapreduce', directory, maps(2));
        const job = await program.jobId();
        const gate = new Gate(
          stage.observer,
          moment === 'tasks'
            ? { kind: 'part', key: `${directory}/part-m-00001` }
            : { kind: 'put', key: new RegExp(`^\\.commitbridge/jobs/${job}/1/plan-`) },
        );
        await gate.reached;
        const kill = await stage.gateway.start('org.apache.hadoop.yarn.client.cli.ApplicationCLI', [
          ...['application', '-kill', job.replace('job', 'application')],
        ]);
        await stage.succeeds(kill);
        await stage.cluster.untilGone(job);
        gate.open();
        expect((await program.result).exitCode).not.toBe(0);
        await stage.expectNothingLeft(directory);
        expect(await stage.files(directory)).toEqual([]);
      }
    },
  },
  {
    name: 'hdfs: the same configuration goes to Hadoop’s committer',
    run: async (stage) => {
      for (const api of apis) {
        await stage.write(api, `hdfs:///plain/${api}`, maps(2));
        const list = await stage.gateway.start('org.apache.hadoop.fs.FsShell', ['-ls', `/plain/${api}`]);
        const { output } = await stage.succeeds(list);
        const names = [...output.matchAll(/\/plain\/mapred\w*\/(\S+)/g)].map(([, name]) => name);
        expect(output, 'the marker of Hadoop’s committer is empty').toMatch(/ 0 \S+ \S+ \S+_SUCCESS/);
        const parts = api === 'mapred' ? ['part-00000', 'part-00001'] : ['part-m-00000', 'part-m-00001'];
        expect(names).toEqual(['_SUCCESS', ...parts]);
      }
    },
  },
  {
    name: 'several daemons: the application master, maps and reducers talk to one each',
    run: async (stage) => {
      const others: DaemonProcess[] = [await stage.secondDaemon(), await stage.secondDaemon()];
      try {
        const port = (daemon: DaemonProcess | undefined): string => daemon?.address.split(':')[1] ?? '';
        const directory = 'several-daemons';
        await stage.write('mapreduce', directory, {
          ...maps(2),
          'mapreduce.job.reduces': 2,
          'commitbridge.endpoints': '127.0.0.1:${env.COMMITBRIDGE_PORT}',
          'yarn.app.mapreduce.am.env': `COMMITBRIDGE_PORT=${port(stage.daemon)}`,
          'mapreduce.map.env': `COMMITBRIDGE_PORT=${port(others[0])}`,
          'mapreduce.reduce.env': `COMMITBRIDGE_PORT=${port(others[1])}`,
        });
        await stage.expectOneCopy(directory, 2, 40, 'r');
        await stage.expectNothingLeft(directory);
      } finally {
        for (const daemon of others) await daemon.stop();
      }
    },
  },
  {
    name: 'Hadoop Streaming and DistCp with -D settings',
    run: async (stage) => {
      await stage.write('mapreduce', `hdfs:///lines`, { ...maps(2), 'it.value-bytes': 8 });
      const streaming = await stage.gateway.startJar('streaming', [
        ...['-D', 'mapreduce.job.reduces=1', '-D', 'mapreduce.job.name=streaming'],
        ...['-input', '/lines', '-output', uri('streaming'), '-mapper', 'cat', '-reducer', 'wc -l'],
      ]);
      await stage.succeeds(streaming);
      expect(await stage.files('streaming')).toEqual(['_SUCCESS', 'part-00000']);
      expect((await stage.text('streaming', 'part-00000')).trim()).toBe('40');
      await stage.expectNothingLeft('streaming');

      const copy = await stage.gateway.start('org.apache.hadoop.tools.DistCp', [
        ...['-D', 'mapreduce.job.queuename=default', '-m', '2', '/lines', uri('distcp')],
      ]);
      await stage.succeeds(copy);
      expect(await stage.files('distcp')).toEqual(['_SUCCESS', 'part-m-00000', 'part-m-00001']);
      expect(await stage.rows('distcp')).toHaveLength(40);
    },
  },
  {
    name: 'a job class loader of its own (mapreduce.job.classloader)',
    run: async (stage) => {
      await stage.write('mapreduce', 'class-loader', { ...maps(2), 'mapreduce.job.classloader': 'true' });
      await restOf(stage, 'mapreduce', 'class-loader', 2, 40);
    },
  },
];
