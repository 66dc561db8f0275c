import { setTimeout as sleep } from 'node:timers/promises';
import type { ManagedChild } from '../servers/index.js';

export interface ProgramResult {
  /** Null when it was killed. */
  readonly exitCode: number | null;
  /** The tail of what it wrote. */
  readonly output: string;
  /** Of the last job, by the names that the client prints. */
  readonly counters: ReadonlyMap<string, number>;
}

/** A client of Hadoop that runs: it submits jobs and waits for them. */
export class Program {
  /** When it's gone. Doesn't reject for a job that fails. */
  readonly result: Promise<ProgramResult>;

  constructor(private readonly child: ManagedChild) {
    this.result = child.exited.then(({ code }) => ({
      exitCode: code,
      output: child.output,
      counters: countersIn(child.output),
    }));
  }

  get output(): string {
    return this.child.output;
  }

  /** The id of the last job that it submitted, as `job_1700000000000_0001`; waits for one. */
  async jobId(): Promise<string> {
    for (;;) {
      const id = /Running job: (job_\w+)(?![\s\S]*Running job:)/.exec(this.output)?.[1];
      if (id !== undefined) return id;
      if (!this.child.running) throw new Error(`The client ended without a job:\n${this.output}`);
      await sleep(20);
    }
  }

  kill(): void {
    this.child.kill();
  }
}

function countersIn(output: string): Map<string, number> {
  const counters = new Map<string, number>();
  for (const [, name = '', value] of output.matchAll(/^\t\t(.+)=(\d+)$/gm)) counters.set(name, Number(value));
  return counters;
}
