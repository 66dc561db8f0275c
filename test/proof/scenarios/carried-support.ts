import type { Driver, TaskAttempt } from '../driver.js';
import type { Stage } from '../stage.js';

export const options = { taskRecords: 'driver' } as const;

export function mustBeCommitted({ checks, drivers: [job] }: Stage): void {
  if (job?.told !== 'committed')
    checks.violate(`the job was not committed: ${job?.failure?.message ?? 'no error'}`);
}

export function mustHave({ checks }: Stage, names: string): void {
  const found = checks
    .published()
    .map(({ name }) => name)
    .sort()
    .join();
  if (found !== names) checks.violate(`published: ${found}`);
}

export async function inlineTask(
  job: Driver,
  task: number,
  names: readonly string[],
  number = 0,
): Promise<TaskAttempt> {
  const attempt = job.attempt(task, number);
  for (const name of names) attempt.writeInline(name);
  await attempt.commit();
  return attempt;
}
