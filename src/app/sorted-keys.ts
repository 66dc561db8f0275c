import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { compareUtf8, sortUtf8 } from '../core/utf8.js';

const pack = promisify(deflateRaw);
const unpack = promisify(inflateRaw);

/** Sorted at a time, which takes some milliseconds. */
const defaultRunLength = 16_384;
/** Of a run, unpacked at a time. */
const blockLength = 256;

/**
 * Keys of one bucket in the order of its listings, of a job of any size: what doesn't fit one run is packed, to some 15
 * bytes a key, and merged when it is read.
 */
export class SortedKeys {
  #open: string[] = [];
  readonly #runs: Promise<readonly Buffer[]>[] = [];
  #size = 0;
  #commonPrefix: string | undefined;

  constructor(private readonly runLength = defaultRunLength) {}

  get size(): number {
    return this.#size;
  }

  /** Of all keys; '' where there are none. */
  get commonPrefix(): string {
    return this.#commonPrefix ?? '';
  }

  add(key: string): void {
    this.#commonPrefix = commonPrefixOf(this.#commonPrefix ?? key, key);
    this.#open.push(key);
    this.#size++;
    if (this.#open.length < this.runLength) return;
    const run = packed(sortUtf8(this.#open));
    run.catch(() => undefined);
    this.#runs.push(run);
    this.#open = [];
  }

  /** All keys in order, as often as they are asked for once none is added any more. */
  async *blocks(): AsyncGenerator<readonly string[]> {
    const open = sortUtf8(this.#open);
    if (this.#runs.length === 0) {
      if (open.length > 0) yield open;
      return;
    }
    const runs = [new Run([], open), ...(await Promise.all(this.#runs)).map((run) => new Run(run))];
    for (;;) {
      await Promise.all(runs.map((run) => run.fill()));
      // Up to there every run is unpacked.
      const ends = runs.map(({ last }) => last).filter((last) => last !== undefined);
      const [first] = ends;
      if (first === undefined) return;
      const end = ends.reduce((least, last) => (compareUtf8(last, least) < 0 ? last : least), first);
      yield sortUtf8(runs.flatMap((run) => run.takeUpTo(end)));
    }
  }
}

/** A sorted run that is read from its start. */
class Run {
  #next = 0;
  #taken = 0;

  constructor(
    private readonly packed: readonly Buffer[],
    private block: readonly string[] = [],
  ) {}

  /** Unpacks the next block where this one is used up. */
  async fill(): Promise<void> {
    const next = this.packed[this.#next];
    if (this.#taken < this.block.length || next === undefined) return;
    this.#next++;
    this.#taken = 0;
    this.block = JSON.parse((await unpack(next)).toString('utf8')) as string[];
  }

  /** Of the block; `undefined` once all is taken. */
  get last(): string | undefined {
    return this.#taken < this.block.length ? this.block.at(-1) : undefined;
  }

  takeUpTo(end: string): readonly string[] {
    const from = this.#taken;
    for (let key = this.block[from]; key !== undefined && compareUtf8(key, end) <= 0;)
      key = this.block[++this.#taken];
    return this.block.slice(from, this.#taken);
  }
}

async function packed(keys: readonly string[]): Promise<readonly Buffer[]> {
  const blocks: Promise<Buffer>[] = [];
  for (let start = 0; start < keys.length; start += blockLength)
    blocks.push(pack(JSON.stringify(keys.slice(start, start + blockLength)), { level: 1 }));
  return Promise.all(blocks);
}

function commonPrefixOf(a: string, b: string): string {
  if (b.startsWith(a)) return a;
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  // Not within a surrogate pair, which has no UTF-8 of its own.
  if (length > 0 && /[\ud800-\udbff]/.test(a[length - 1] ?? '')) length--;
  return a.slice(0, length);
}
