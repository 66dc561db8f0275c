/** One way to break the shipped code. */
export interface Mutation {
  readonly name: string;
  readonly edits: readonly {
    /** Below `src`. */
    readonly file: string;
    /** Stands there exactly once. */
    readonly find: string;
    readonly replace: string;
  }[];
  /** Scenarios that are tried first; a mutation that none of these catches is tried with all. */
  readonly tryFirst: readonly string[];
  /** On a store that can do what this one can. */
  readonly store?: string;
  /** It changes nothing and must pass. */
  readonly isHarmless?: boolean;
}

export function edit(file: string, find: string, replace: string): Mutation['edits'][number] {
  return { file, find, replace };
}
