export interface PartLimits {
  readonly minPartBytes: number;
  readonly maxPartBytes: number;
  readonly maxParts: number;
  readonly maxObjectBytes: number;
  readonly equalParts: boolean;
}

export const defaultFirstPartBytes = 8 * 1024 * 1024;
const runLengths = [1_000, 500, 250, 100, 50, 20, 10, 1];

/**
 * The size of each part of a file whose length nobody knows yet. It starts small and doubles after each run of
 * parts, so that the store's number of parts reaches the store's longest object (HADOOP-16900: a file of more
 * than 10,000 parts was cut off in silence). Where all parts must be equal the size can't grow.
 */
export class PartPlan {
  readonly #first: number;
  readonly #runLength: number;

  constructor(
    readonly limits: PartLimits,
    firstPartBytes = defaultFirstPartBytes,
  ) {
    this.#first = clamp(firstPartBytes, limits.minPartBytes, limits.maxPartBytes);
    this.#runLength = limits.equalParts
      ? limits.maxParts
      : (runLengths.find((length) => this.#reach(length) >= limits.maxObjectBytes) ?? 1);
  }

  /** Bytes of part `partNumber`, from 1; the last part of a file may be smaller. */
  sizeOf(partNumber: number): number {
    return this.#sizeInRun(Math.floor((partNumber - 1) / this.#runLength));
  }

  #sizeInRun(run: number): number {
    return Math.min(this.#first * 2 ** Math.min(run, 40), this.limits.maxPartBytes);
  }

  #reach(runLength: number): number {
    let bytes = 0;
    for (let part = 0; part < this.limits.maxParts; part += runLength) {
      bytes += Math.min(runLength, this.limits.maxParts - part) * this.#sizeInRun(part / runLength);
    }
    return bytes;
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
