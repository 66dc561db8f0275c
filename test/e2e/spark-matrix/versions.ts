import { defaultSpark, type SparkVersion } from '../../support/spark/index.js';

interface Row extends SparkVersion {
  /** Not only with COMMITBRIDGE_TEST_ALL=1. */
  always?: boolean;
  /** Maven has its spark-hadoop-cloud; of the others it had none when this was written. */
  hadoopCloud?: boolean;
}

const all: Row[] = [
  { spark: '3.5.8', scala: '2.12', hadoop: '3.3.4', always: true, hadoopCloud: true },
  { spark: '3.5.8', scala: '2.13', hadoop: '3.3.4' },
  { spark: '4.0.2', scala: '2.13', hadoop: '3.4.1', hadoopCloud: true },
  { spark: '4.1.2', scala: '2.13', hadoop: '3.4.2', hadoopCloud: true },
  { ...defaultSpark, always: true },
];

function nameOf({ spark, scala }: SparkVersion): string {
  return `${spark}-${scala}`;
}

/**
 * The oldest and the newest; with COMMITBRIDGE_TEST_ALL=1 all of them, and with
 * COMMITBRIDGE_TEST_SPARK=3.5.8-2.12,4.2.0-2.13 those. By their names.
 */
export function versions(): [name: string, version: SparkVersion][] {
  return named(chosen());
}

/** The newest of them; with COMMITBRIDGE_TEST_ALL=1 all. For what takes long: applications of their own, deaths. */
export function fewVersions(): [name: string, version: SparkVersion][] {
  return process.env['COMMITBRIDGE_TEST_ALL'] === '1' ? versions() : versions().slice(-1);
}

/** Those of `versions` that S3A's committers can be bound in. */
export function hadoopCloudVersions(): [name: string, version: SparkVersion][] {
  return named(chosen().filter(({ hadoopCloud }) => hadoopCloud === true));
}

function named(rows: Row[]): [name: string, version: SparkVersion][] {
  return rows.map((version) => [nameOf(version), version]);
}

function chosen(): Row[] {
  const names = process.env['COMMITBRIDGE_TEST_SPARK']?.split(',');
  if (names !== undefined) {
    const unknown = names.filter((name) => !all.some((version) => nameOf(version) === name));
    if (unknown.length > 0) throw new Error(`COMMITBRIDGE_TEST_SPARK: there is no ${unknown.join(', ')}`);
    return all.filter((version) => names.includes(nameOf(version)));
  }
  return all.filter(({ always }) => always === true || process.env['COMMITBRIDGE_TEST_ALL'] === '1');
}
