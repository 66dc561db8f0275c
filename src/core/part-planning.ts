export interface PartLimits {
  readonly minPartBytes: number;
  readonly maxPartBytes: number;
  readonly maxParts: number;
  readonly maxObjectBytes: number;
  readonly equalParts: boolean;
}

export const defaultFirstPartBytes = 8 * 1024 * 1024;
const runLengths = [1_000, 500, 250, 100, 50, 20, 10, 1];

/** Eight times the first: a file of 256 MiB has 7 parts rather than 32, each of which is paid for. */
const doublingsAtOnce = 3;

/**
 * The size of each part of a file whose length nobody knows yet. It starts small, doubles with each of the next
 * parts, and then after each run of them, so that the store's number of parts reaches the store's longest object
 * (HADOOP-16900: a file of more than 10,000 parts was cut off in silence). Where all parts must be equal the size
 * can't grow.
 */
export class PartPlan {
  readonly #first: number;
  readonly #doublingsAtOnce: number;
  readonly #runLength: number;

  constructor(
    readonly limits: PartLimits,
    firstPartBytes = defaultFirstPartBytes,
  ) {
    this.#first = clamp(firstPartBytes, limits.minPartBytes, limits.maxPartBytes);
    this.#doublingsAtOnce = limits.equalParts ? 0 : doublingsAtOnce;
    this.#runLength = limits.equalParts
      ? limits.maxParts
      : (runLengths.find((length) => this.#reach(length) >= limits.maxObjectBytes) ?? 1);
  }

  /** Bytes of part `partNumber`, from 1; the last part of a file may be smaller. */
  sizeOf(partNumber: number): number {
    return this.#size(partNumber, this.#runLength);
  }

  #size(partNumber: number, runLength: number): number {
    const soon = Math.min(partNumber - 1, this.#doublingsAtOnce);
    const run = Math.floor((partNumber - 1) / runLength);
    return Math.min(this.#first * 2 ** Math.min(soon + run, 40), this.limits.maxPartBytes);
  }

  #reach(runLength: number): number {
    const { maxParts } = this.limits;
    let bytes = 0;
    for (let start = 0; start < maxParts; start += runLength) {
      const end = Math.min(start + runLength, maxParts);
      // One by one as long as each is larger than the one before it.
      let part = start;
      while (part < Math.min(end, this.#doublingsAtOnce)) bytes += this.#size(++part, runLength);
      if (part < end) bytes += (end - part) * this.#size(end, runLength);
    }
    return bytes;
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
