import fc from 'fast-check';

/** More than a history of twenty steps decides. */
const enough = 400;
/** A thousandth of what there is to choose from: few, so that a history has few smaller ones. */
const parts = 1_000;
const numbers = fc.nat({ max: parts - 1 });
/** Evenly spread: a bias to small numbers would be one to the first kind of step. */
const generated = fc.array(fc.noBias(numbers), { minLength: enough, maxLength: enough });
/** As short as need be: what isn't there any more counts as 0. */
const shrinking = fc.array(numbers, { maxLength: enough });

/** The decisions of a random history, so that a history can be made smaller decision by decision. */
export class Choices {
  private taken = 0;

  constructor(private readonly numbers: readonly number[]) {}

  below(limit: number): number {
    return Math.floor(((this.numbers[this.taken++] ?? 0) * limit) / parts);
  }
}

/** The same for the same seed. */
export function choicesOf(seed: number): readonly number[] {
  return fc.sample(generated, { seed, numRuns: 1 })[0] ?? [];
}

/** The smallest that fast-check finds within a while and that fails still. */
export async function smallestChoices(
  choices: readonly number[],
  fails: (choices: readonly number[]) => Promise<boolean>,
): Promise<readonly number[]> {
  let smallest = choices;
  const holds = async (tried: readonly number[]): Promise<boolean> => {
    if (!(await fails(tried))) return true;
    smallest = tried;
    return false;
  };
  await fc.check(fc.asyncProperty(shrinking, holds), {
    examples: [[[...choices]]],
    numRuns: 1,
    plugins: [fc.interruptAfterTimeLimit(60_000)],
  });
  return smallest;
}
