import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OssDouble } from '../../support/oss-double/index.js';
import { SortedMap } from '../../support/oss-double/sorted-map.js';
import { combineCrc64, crc64 } from '../../support/oss-double/crc64.js';
import { RawClient, texts } from './raw-client.js';

const keys = ['a', 'd/1', 'd/2', 'd/e/3', 'd.x', 'z\u{ffff}', 'z\u{10000}', 'ü'];
// UTF-16 would put U+10000 before U+FFFF.
const sorted = ['a', 'd.x', 'd/1', 'd/2', 'd/e/3', 'z\u{ffff}', 'z\u{10000}', 'ü'];

let double: OssDouble;
let client: RawClient;
const uploads: [string, string][] = [];

beforeAll(async () => {
  double = await OssDouble.start({ buckets: ['lake'] });
  client = new RawClient(double);
  for (const key of keys) await client.send('PUT', encodeURIComponent(key), { body: key });
  for (const key of ['a', 'a', 'a', 'b', 'c/1', 'c/2']) uploads.push([key, await client.initiate(key)]);
  uploads.sort((x, y) => (x.join('\n') < y.join('\n') ? -1 : 1));
});

afterAll(async () => {
  await double.stop();
});

/** Keys and common prefixes of all pages, and how many pages there were. */
async function pages(
  query: string,
  next: (body: string) => string,
): Promise<{ names: string[]; pages: number }> {
  const names: string[] = [];
  for (let count = 1, more = ''; ; count++) {
    const { body } = await client.send('GET', `?${query}${more}`);
    const page = [...body.matchAll(/<Contents><Key>([^<]*)|<CommonPrefixes><Prefix>([^<]*)/g)];
    names.push(...page.map(([, key, prefix]) => decodeURIComponent(key ?? prefix ?? '')));
    if (texts(body, 'IsTruncated')[0] === 'false') return { names, pages: count };
    more = next(body);
  }
}

const nextMarker = (body: string): string => `&marker=${texts(body, 'NextMarker')[0]}`;
const nextToken = (body: string): string => `&continuation-token=${texts(body, 'NextContinuationToken')[0]}`;

describe('listings of the double of OSS', () => {
  it.each([1, 2, 3, 100])('v1 and v2 list all keys in the order of their bytes, %i a page', async (size) => {
    const wanted = { names: sorted, pages: Math.ceil(sorted.length / size) };
    const query = `encoding-type=url&max-keys=${size}`;
    expect(await pages(query, nextMarker)).toEqual(wanted);
    expect(await pages(`list-type=2&${query}`, nextToken)).toEqual(wanted);
  });

  it.each([1, 2, 100])('fold at the delimiter, %i a page', async (size) => {
    const query = `encoding-type=url&delimiter=%2F&max-keys=${size}`;
    const names = ['a', 'd.x', 'd/', 'z\u{ffff}', 'z\u{10000}', 'ü'];
    expect((await pages(query, nextMarker)).names).toEqual(names);
    expect((await pages(`list-type=2&${query}`, nextToken)).names).toEqual(names);
    expect((await pages(`list-type=2&prefix=d%2F&${query}`, nextToken)).names).toEqual([
      'd/1',
      'd/2',
      'd/e/',
    ]);
  });

  it('encode what they repeat when asked to, and nothing else', async () => {
    const { body } = await client.send('GET', '?encoding-type=url&prefix=d%2F&delimiter=%2F&marker=d%2F1');
    for (const [name, text] of [
      ['Prefix', 'd%2F'],
      ['Delimiter', '%2F'],
      ['Marker', 'd%2F1'],
      ['Key', 'd%2F2'],
    ] as const) {
      expect(texts(body, name)[0]).toBe(text);
    }
    const plain = (await client.send('GET', '?prefix=d%2F')).body;
    expect(texts(plain, 'Key')).toEqual(['d/1', 'd/2', 'd/e/3']);
    expect(await client.send('GET', '?encoding-type=base64')).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
    });
  });

  it('refuse page sizes beyond 1,000', async () => {
    for (const query of ['?max-keys=1001', '?max-keys=0', '?max-keys=x', '?uploads&max-uploads=1001']) {
      expect(await client.send('GET', query)).toMatchObject({ status: 400, code: 'InvalidArgument' });
    }
  });

  it('list uploads by key, then id, from both markers on', async () => {
    const listed: string[][] = [];
    for (let more = ''; ;) {
      const { body } = await client.send('GET', `?uploads&max-uploads=2${more}`);
      const [names, ids] = [texts(body, 'Key'), texts(body, 'UploadId')];
      listed.push(...names.map((name, i) => [name, ids[i] ?? '']));
      if (texts(body, 'IsTruncated')[0] === 'false') break;
      more = `&key-marker=${texts(body, 'NextKeyMarker')[0]}&upload-id-marker=${texts(body, 'NextUploadIdMarker')[0]}`;
    }
    expect(listed).toEqual(uploads);
  });

  it('list uploads: a key marker alone skips that key, an id marker alone does nothing', async () => {
    const after = async (query: string): Promise<string[]> =>
      texts((await client.send('GET', `?uploads&${query}`)).body, 'Key');
    expect(await after('key-marker=a')).toEqual(['b', 'c/1', 'c/2']);
    expect(await after(`upload-id-marker=${uploads[5]?.[1]}`)).toEqual(['a', 'a', 'a', 'b', 'c/1', 'c/2']);
    expect(await after('prefix=c%2F')).toEqual(['c/1', 'c/2']);
    const folded = (await client.send('GET', '?uploads&delimiter=%2F')).body;
    expect([texts(folded, 'Key'), texts(folded, 'Prefix').filter(Boolean)]).toEqual([
      ['a', 'a', 'a', 'b'],
      ['c/'],
    ]);
  });
});

describe('what the double of OSS is made of', () => {
  it('a sorted map is as a map whose keys are sorted', () => {
    const key = fc.string({ unit: 'binary', maxLength: 3 });
    const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
    const model = (steps: [string, boolean][], from: string): void => {
      const [map, wanted] = [new SortedMap<number>(), new Map<string, number>()];
      steps.forEach(([name, adds], i) => {
        if (adds) map.set(name, i);
        else map.delete(name);
        if (adds) wanted.set(name, i);
        else wanted.delete(name);
      });
      const names = [...wanted.keys()].filter((name) => byBytes(name, from) >= 0).sort(byBytes);
      expect([...map.entriesFrom(from)]).toEqual(names.map((name) => [name, wanted.get(name)]));
      expect(map.size).toBe(wanted.size);
    };
    const step = fc.tuple(key, fc.boolean());
    fc.assert(fc.property(fc.array(step, { maxLength: 2000, size: 'max' }), key, model), { numRuns: 30 });
    // More keys than a block has.
    model(
      Array.from({ length: 5000 }, (_, i) => [String((i * 7919) % 5000), true]),
      '3',
    );
  });

  it('CRC-64 has the known answer, and that of a whole comes from its pieces', () => {
    expect(crc64(Buffer.from('123456789')).toString(16)).toBe('995dc9bbdf1939fa');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        expect(combineCrc64(crc64(a), crc64(b), b.length)).toBe(crc64(Buffer.concat([a, b])));
      }),
    );
  });
});
