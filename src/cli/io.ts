/** What a command may touch of its process. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Results, and nothing else. */
  readonly stdout: NodeJS.WritableStream;
  /** Logs and sentences for people. */
  readonly stderr: NodeJS.WritableStream;
}

export function print(io: CliIo, text: string): void {
  io.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

export function printJson(io: CliIo, value: unknown): void {
  print(io, JSON.stringify(value));
}

/** Columns as wide as their longest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return rows
    .map((row) =>
      row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join('  '),
    )
    .join('\n');
}
