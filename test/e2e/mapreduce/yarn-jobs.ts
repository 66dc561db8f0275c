import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { Gate } from '../spark/gate.js';
import { incidents } from './incidents.js';
import { maps, recordedAttempts, restOf, stateKey, type YarnJob } from './yarn-job.js';
import { uri, type Api, type OtherDaemon } from './stage.js';

const apis: Api[] = ['mapreduce', 'mapred'];
const factory = 'io.commitbridge.BridgeCommitterFactory';

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
  {
    name: 'the jar comes with each job (tmpjars): neither the client nor a node has it, nor the gateway’s settings',
    run: async (stage) => {
      const client = await stage.gateway.start(factory, []);
      expect((await client.result).output).toContain(`Could not find or load main class ${factory}`);

      const directory = 'jar';
      const program = await stage.startWrite('mapreduce', directory, maps(1));
      const gate = new Gate(stage.observer, { kind: ['part', 'put'], key: new RegExp(`^${directory}/`) });
      await gate.reached;
      const containers = await stage.cluster.containers(await program.jobId());
      gate.open();
      await stage.succeeds(program);
      expect(containers).toHaveLength(2);
      for (const { commandLine } of containers) {
        expect(commandLine).toContain(stage.gateway.nodeClassPath);
        const { confDir, bundleJar, jobsJar } = stage.gateway;
        for (const ofGateway of [confDir, bundleJar, jobsJar]) expect(commandLine).not.toContain(ofGateway);
      }

      for (const api of apis) {
        const without = { ...maps(1), tmpjars: '', 'mapreduce.am.max-attempts': 1 };
        const refused = await stage.startWrite(api, `without-jar/${api}`, without);
        expect((await refused.result).exitCode).not.toBe(0);
        const logs = await stage.cluster.applicationMasterLogs(await refused.jobId());
        expect(logs.join('\n')).toMatch(/Class io\.commitbridge\.\S+ not found/);
      }
    },
  },
  ...incidents,
  {
    name: 'a commitTask that waits for the store longer than mapreduce.task.timeout reports progress',
    run: async (stage) => {
      const timeoutMs = 20_000;
      const conf = {
        ...{ ...maps(1), 'mapreduce.task.timeout': timeoutMs },
        // Else the application master looks every 30 s only, and may never see a task that is late by less.
        'mapreduce.task.timeout.check-interval-ms': 1_000,
      };
      const program = await stage.startWrite('mapreduce', 'progress', conf);
      const job = await program.jobId();
      const gate = new Gate(stage.observer, { kind: 'put', key: stateKey(job, 'tasks/m-000000/0') });
      await gate.reached;
      await sleep(2 * timeoutMs);
      gate.open();
      await stage.succeeds(program);
      expect(new Set(recordedAttempts(stage, job, 'm-000000'))).toEqual(new Set([0]));
      await restOf(stage, 'mapreduce', 'progress', 1, 20);
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
      const ofMaps = await stage.secondDaemon();
      const ofReducers = await stage.secondDaemon();
      try {
        const port = ({ daemon }: Pick<OtherDaemon, 'daemon'>): string => daemon.address.split(':')[1] ?? '';
        const directory = 'several-daemons';
        await stage.write('mapreduce', directory, {
          ...maps(2),
          'mapreduce.job.reduces': 2,
          'commitbridge.endpoints': '127.0.0.1:${env.COMMITBRIDGE_PORT}',
          'yarn.app.mapreduce.am.env': `COMMITBRIDGE_PORT=${port(stage)}`,
          'mapreduce.map.env': `COMMITBRIDGE_PORT=${port(ofMaps)}`,
          'mapreduce.reduce.env': `COMMITBRIDGE_PORT=${port(ofReducers)}`,
        });
        await stage.expectOneCopy(directory, 2, 40, 'r');
        await stage.expectNothingLeft(directory);
        // Maps of a job with reducers are set up, too, and write nothing to the output.
        expect(await ofMaps.calls('SetupTask')).toBe(2);
        expect(await ofMaps.calls('OpenFile')).toBe(0);
        expect(await ofReducers.calls('SetupTask')).toBe(2);
        expect(await ofReducers.calls('OpenFile')).toBe(2);
        for (const other of [ofMaps, ofReducers]) {
          for (const ofJob of ['SetupJob', 'CommitJob']) expect(await other.calls(ofJob)).toBe(0);
        }
      } finally {
        for (const { daemon } of [ofMaps, ofReducers]) await daemon.stop();
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
