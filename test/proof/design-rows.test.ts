import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { designRows, missingRows } from './design-rows.js';
import { faultModes } from './faults.js';
import { modelScenario } from './histories.js';
import { mutations } from './mutations/index.js';
import { formatReplay, parseReplay } from './replay.js';
import { scenarios } from './scenarios/index.js';
import { recoveries, Stage } from './stage.js';

const names = scenarios.map(({ name }) => name);

describe('what can fail, and the scenarios about it', () => {
  it('has a scenario for each row', () => {
    expect(missingRows(names)).toEqual([]);
  });

  it('notices a row without one', () => {
    expect(missingRows(names.filter((name) => name !== 'three masters'))).toHaveLength(1);
  });

  it('is in docs/failure-modes.md, row by row, and that names scenarios that there are', async () => {
    const text = await readFile(new URL('../../docs/failure-modes.md', import.meta.url), 'utf8');
    const rows = text.split('\n').filter((line) => line.startsWith('| '));
    for (const row of Object.keys(designRows))
      expect(
        rows.some((line) => line.startsWith(`| ${row}`)),
        row,
      ).toBe(true);
    const mentioned = rows.flatMap((line) =>
      [...(line.split('|')[3] ?? '').matchAll(/proof[^;|]*/g)]
        .flatMap(([part]) => [...part.matchAll(/\*([^*]+)\*/g)])
        .map(([, name = '']) => name),
    );
    const others: readonly string[] = [...recoveries, ...faultModes];
    expect(mentioned.filter((name) => !names.includes(name) && !others.includes(name))).toEqual([]);
  });

  it('gives every scenario a name of its own', () => {
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('a mutation', () => {
  it.each(mutations.map((mutation) => ({ mutation, name: mutation.name })))(
    'applies: $name',
    async ({ mutation }) => {
      const texts = new Map<string, string>();
      for (const { file, find, replace } of mutation.edits) {
        const path = new URL(`../../src/${file}`, import.meta.url);
        const text = texts.get(file) ?? (await readFile(path, 'utf8'));
        expect(text.split(find), `'${find}' in src/${file}`).toHaveLength(2);
        texts.set(
          file,
          text.replace(find, () => replace),
        );
      }
      expect(mutation.tryFirst.filter((name) => !names.includes(name))).toEqual([]);
    },
  );
});

describe('a replay', () => {
  it('is the same run again', async () => {
    const text = 'abort overlapping commit|2|12:late:3,4:after|jobs abort|bare';
    const { scenario, plan } = parseReplay(text, scenarios);
    expect(formatReplay(scenario.name, plan)).toBe(text);
    const [first, second] = [await Stage.run(scenario, plan), await Stage.run(scenario, plan)];
    expect(first).toEqual(second);
    expect(first.triggered).toHaveLength(2);
  });

  it('of a random history too', async () => {
    const { scenario, plan } = parseReplay('model 5|7||clients|retries', scenarios);
    expect(scenario.name).toBe(modelScenario(5).name);
    expect(plan).toMatchObject({ seed: 7 });
    await expect(Stage.run(scenario, { ...plan, faults: [] })).resolves.toMatchObject({ violations: [] });
  });

  it('says what is wrong with it', () => {
    expect(() => parseReplay('no such|1||gc|bare', scenarios)).toThrow('no such');
    expect(() => parseReplay('one job|1|5:sometimes|gc|bare', scenarios)).toThrow('5:sometimes');
  });
});
