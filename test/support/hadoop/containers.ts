import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A JVM that a NodeManager of the cluster started. */
export interface Container {
  readonly pid: number;
  /** As `container_1700000000000_0001_01_000001`, with an epoch or without. */
  readonly id: string;
  /** The job that it works for, as `job_1700000000000_0001`. */
  readonly job: string;
  /** Of the application master that it is, or that it was started by, from 1. */
  readonly applicationAttempt: number;
  /** Of a task, as `attempt_1700000000000_0001_m_000000_0`; undefined for an application master. */
  readonly task?: string;
  /** With the class path. */
  readonly commandLine: string;
}

/** The containers of the cluster in `home` that run now. They lead process groups of their own. */
export async function runningContainers(home: string): Promise<Container[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,args='], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, args = ''] = /^\s*(\d+)\s+(\S*\/java\s.*)$/.exec(line) ?? [];
    const id = /\/(container_\w+)\/tmp/.exec(args)?.[1];
    if (pid === undefined || id === undefined || !args.includes(`${home}/`)) return [];
    const [, cluster = '', application = '', attempt = ''] = /_(\d+)_(\d+)_(\d+)_\d+$/.exec(id) ?? [];
    const task = / org\.apache\.hadoop\.mapred\.YarnChild .*\b(attempt_\w+)/.exec(args)?.[1];
    return [
      {
        pid: Number(pid),
        id,
        job: `job_${cluster}_${application}`,
        applicationAttempt: Number(attempt),
        commandLine: args,
        ...(task === undefined ? {} : { task }),
      },
    ];
  });
}
