import { defaultSpark, type SparkVersion } from '../../support/spark/index.js';

const all: SparkVersion[] = [
  { spark: '3.5.8', scala: '2.12', hadoop: '3.3.4' },
  { spark: '3.5.8', scala: '2.13', hadoop: '3.3.4' },
  { spark: '4.0.2', scala: '2.13', hadoop: '3.4.1' },
  defaultSpark,
  { spark: '4.2.0', scala: '2.13', hadoop: '3.5.0' },
];

export function nameOf({ spark, scala }: SparkVersion): string {
  return `${spark}-${scala}`;
}

/**
 * The one that the other suites fetch anyway; with COMMITBRIDGE_TEST_ALL=1 all of them, and with
 * COMMITBRIDGE_TEST_SPARK=3.5.8-2.12,4.2.0-2.13 those.
 */
export function versions(): SparkVersion[] {
  const names = process.env['COMMITBRIDGE_TEST_SPARK']?.split(',');
  if (names !== undefined) {
    const unknown = names.filter((name) => !all.some((version) => nameOf(version) === name));
    if (unknown.length > 0) throw new Error(`COMMITBRIDGE_TEST_SPARK: there is no ${unknown.join(', ')}`);
    return all.filter((version) => names.includes(nameOf(version)));
  }
  return process.env['COMMITBRIDGE_TEST_ALL'] === '1' ? all : [defaultSpark];
}
