import { describe, expect, it } from 'vitest';
import { Choices, choicesOf, smallestChoices } from './choices.js';
import { historyNamed, modelScenario } from './histories.js';

describe('the decisions of a history', () => {
  it('are the same for the same seed', () => {
    expect(choicesOf(7)).toEqual(choicesOf(7));
    expect(choicesOf(7)).not.toEqual(choicesOf(8));
  });

  it('cover their range, and are the first one where none is left', () => {
    const choices = new Choices([0, 499, 500, 999]);
    expect(Array.from({ length: 5 }, () => choices.below(2))).toEqual([0, 0, 1, 1, 0]);
  });

  it('shrink to the fewest and smallest that fail', async () => {
    const fails = (choices: readonly number[]): Promise<boolean> =>
      Promise.resolve(choices.some((each) => each > 500));
    expect(await smallestChoices(choicesOf(7), fails)).toEqual([501]);
  });

  it('are read back from the name of a history', () => {
    expect(historyNamed('model 7')?.name).toBe(modelScenario(7).name);
    expect(historyNamed('model 3.0.12.')?.name).toBe('model 3.0.12.');
    expect(historyNamed('model 3.x.')).toBeUndefined();
    expect(historyNamed('one job')).toBeUndefined();
  });
});
