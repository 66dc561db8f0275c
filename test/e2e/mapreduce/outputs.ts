import { expect } from 'vitest';
import type { Api, Conf, Stage } from './stage.js';

/** 4 maps with 50 rows each, to 2 reducers: reducer 0 gets the even keys of 0 to 49, reducer 1 the odd ones. */
const conf: Conf = { 'mapreduce.job.reduces': 2, 'it.maps': 4, 'it.rows': 50 };
const rows = 200;
const numbers = Array.from({ length: rows }, (_, i) => i);

type Check = (stage: Stage, directory: string) => Promise<void>;

/** The formats that write otherwise than one file a task, and what a reader must find. */
const newApi: Record<string, Check> = {
  multiple: async (stage, directory) => {
    expect(await stage.files(directory)).toEqual([
      '_SUCCESS',
      ...['all/sequence-r-00000', 'all/sequence-r-00001', 'half=0/part-r-00000', 'half=1/part-r-00001'],
    ]);
    expect(await textRows(stage, directory, 'half=0/part-r-00000')).toEqual(numbers.filter(isEven));
    expect(await textRows(stage, directory, 'half=1/part-r-00001')).toEqual(numbers.filter(isOdd));
    expect(await records(stage, `${directory}/all/*`)).toEqual(numbers);
  },
  mapfile: mapFiles('part-r-'),
  lazy: async (stage, directory) => {
    expect(await stage.files(directory)).toEqual(['_SUCCESS', 'part-r-00001']);
    expect(await textRows(stage, directory, 'part-r-00001')).toEqual(numbers.filter(isOdd));
  },
  sequence: async (stage, directory) => {
    expect(await records(stage, `${directory}/part-*`)).toEqual(numbers);
  },
  parquet: async (stage, directory) => {
    expect(await stage.reader.parquetRows(`${directory}/`)).toEqual({ files: 2, rows });
    expect(await stage.text(directory, '_SUCCESS')).toContain('commitbridge');
  },
};

const oldApi: Record<string, Check> = {
  multiple: async (stage, directory) => {
    expect(await stage.files(directory)).toEqual([
      '_SUCCESS',
      ...['sequence-r-00000', 'sequence-r-00001', 'text-r-00000', 'text-r-00001'],
    ]);
    expect(await textRows(stage, directory, 'text-r-00000')).toEqual(numbers.filter(isEven));
    expect(await textRows(stage, directory, 'text-r-00001')).toEqual(numbers.filter(isOdd));
    expect(await records(stage, `${directory}/sequence-*`)).toEqual(numbers);
  },
  mapfile: mapFiles('part-'),
  lazy: async (stage, directory) => {
    expect(await stage.files(directory)).toEqual(['_SUCCESS', 'part-00001']);
    expect(await textRows(stage, directory, 'part-00001')).toEqual(numbers.filter(isOdd));
  },
};

export const formats: [Api, string][] = [
  ...Object.keys(newApi).map((format): [Api, string] => ['mapreduce', format]),
  ...Object.keys(oldApi).map((format): [Api, string] => ['mapred', format]),
];

/** Writes rows through one of Hadoop's output formats, and says whether a reader finds them all. */
export async function writesFormat(
  stage: Stage,
  api: Api,
  format: string,
  directory: string,
  more: Conf = {},
): Promise<void> {
  const job = api === 'mapreduce' ? 'OutputsJob' : 'OldOutputsJob';
  const args = [format, `s3a://${stage.reader.bucket}/${directory}`];
  // Who submits a job with our output format names its class.
  const withJar = format === 'parquet' ? { withJar: true } : {};
  const { counters } = await stage.runJob(job, { ...conf, ...more }, args, withJar);

  expect(stage.copiesBelow(directory)).toEqual([]);
  const check = (api === 'mapreduce' ? newApi : oldApi)[format];
  if (check === undefined) throw new Error(`There is no ${format} in ${api}.`);
  await check(stage, directory);
  // Hadoop counts what goes through the writer of a FileOutputFormat: not MultipleOutputs, nor the lazy format around one.
  const counted = /multiple|lazy/.test(format) ? 0 : await stage.bytes(directory);
  expect(counters.get('Bytes Written')).toBe(counted);
  await stage.expectNothingLeft(directory);
}

/** A directory a task, with two files. */
function mapFiles(prefix: string): Check {
  return async (stage, directory) => {
    const files = ['0', '1'].flatMap((n) => [`${prefix}0000${n}/data`, `${prefix}0000${n}/index`]);
    expect(await stage.files(directory)).toEqual(['_SUCCESS', ...files]);
    expect(await records(stage, `${directory}/part-*/data`)).toEqual(numbers);
  };
}

/** The numbers of the rows in a text file, sorted; with their keys or without. */
async function textRows(stage: Stage, directory: string, file: string): Promise<number[]> {
  return rowNumbers(await stage.text(directory, file));
}

/** The numbers of the records that Hadoop itself reads from sequence files, sorted. */
async function records(stage: Stage, pattern: string): Promise<number[]> {
  const args = ['-text', `s3a://${stage.reader.bucket}/${pattern}`];
  const { output } = await stage.succeeds(await stage.gateway.start('org.apache.hadoop.fs.FsShell', args));
  return rowNumbers(output);
}

/** Every copy of a row counts. */
function rowNumbers(text: string): number[] {
  return [...text.matchAll(/^(?:\d+\t)?(\d{8}) x+$/gm)]
    .map(([, number]) => Number(number))
    .sort((a, b) => a - b);
}

function isOdd(number: number): boolean {
  return number % 2 === 1;
}

function isEven(number: number): boolean {
  return !isOdd(number);
}
