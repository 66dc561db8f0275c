import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever the kernel's own clock. */
const ticksPerSecond = 100;
const mib = 1024;

/** CPU time of a process so far, all threads. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is a name in parentheses, which may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Most memory that a process has had resident, or has now. */
export function rssMb(pid: number, which: 'peak' | 'now'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = which === 'peak' ? /VmHWM:\s+(\d+) kB/ : /VmRSS:\s+(\d+) kB/;
  return Math.round(Number(field.exec(status)?.[1]) / mib);
}
