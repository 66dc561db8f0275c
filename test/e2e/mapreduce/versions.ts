import { defaultHadoop } from '../../support/hadoop/index.js';

const all = [defaultHadoop, '3.4.2'];

/** Whether every row is asked for, not only those that `npm test` has time for. */
export const everyRow = process.env['COMMITBRIDGE_TEST_ALL'] === '1';

/** The newest; with COMMITBRIDGE_TEST_ALL=1 all of them, and with COMMITBRIDGE_TEST_HADOOP=3.4.2 that one. */
export function versions(): string[] {
  const names = process.env['COMMITBRIDGE_TEST_HADOOP']?.split(',');
  if (names !== undefined) {
    const unknown = names.filter((name) => !all.includes(name));
    if (unknown.length > 0) throw new Error(`COMMITBRIDGE_TEST_HADOOP: there is no ${unknown.join(', ')}`);
    return names;
  }
  return everyRow ? all : [defaultHadoop];
}

/** Of a table of rows: those that run now. */
export function rowsOf<T extends { brief?: boolean }>(rows: readonly T[]): T[] {
  return rows.filter(({ brief = false }) => everyRow || brief);
}
