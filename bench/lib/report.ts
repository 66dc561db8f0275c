import { alignTable } from '../../scripts/lib/stack.js';

/** With `--json` the last line of stdout is the result, and the table goes to stderr. */
export function report(isJson: boolean, rows: readonly (readonly string[])[], result: object): void {
  const table = alignTable(rows.map((row) => [...row]));
  if (!isJson) {
    process.stdout.write(`${table}\n`);
    return;
  }
  process.stderr.write(`${table}\n`);
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? NaN;
}

export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
