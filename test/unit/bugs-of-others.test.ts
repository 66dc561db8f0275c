import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scenarios } from '../proof/scenarios/index.js';

const root = new URL('../..', import.meta.url).pathname;
const page = readFileSync(join(root, 'docs/bugs-of-others.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))
  .filter(([first]) => first !== 'reported as');

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.includes('target/'))
    .map((name) => join(root, folder, name));
}

const javaTests = filesBelow('java-shim', 'Test.java').map((file) => ({
  file,
  text: readFileSync(file, 'utf8'),
}));
const scenarioNames = new Set(scenarios.map(({ name }) => name));

/** The tests that a row names and that there are not. */
function missing(shownBy: string): string[] {
  const absent: string[] = [];
  for (const [, file = '', titles = ''] of shownBy.matchAll(/`(test\/[^`]+)`:((?:,? "[^"]+")+)/g)) {
    const text = readFileSync(join(root, file), 'utf8').replaceAll("\\'", "'");
    for (const [, title = ''] of titles.matchAll(/"([^"]+)"/g)) if (!text.includes(title)) absent.push(title);
  }
  for (const [, name = '', method = ''] of shownBy.matchAll(/`(\w+Test)\.(\w+)`/g)) {
    const java = javaTests.find(({ file }) => file.endsWith(`/${name}.java`));
    if (java?.text.includes(`void ${method}(`) !== true) absent.push(`${name}.${method}`);
  }
  for (const [, scenario = ''] of shownBy.matchAll(/\*([^*]+)\*/g)) {
    if (!scenarioNames.has(scenario)) absent.push(scenario);
  }
  return absent;
}

function count(shownBy: string): number {
  return [...shownBy.matchAll(/`test\/[^`]+`: "|`\w+Test\.\w+`|\*[^*]+\*/g)].length;
}

describe('docs/bugs-of-others.md', () => {
  it('has the reports, each once', () => {
    const reports = rows.map(([name]) => name);
    expect(reports.length).toBeGreaterThanOrEqual(60);
    expect(new Set(reports).size).toBe(reports.length);
  });

  it.each(rows)('%s: every test that shows it exists', (_name, _wrong, shownBy = '') => {
    expect(count(shownBy)).toBeGreaterThan(0);
    expect(missing(shownBy)).toEqual([]);
  });

  it('notices a test that is gone', () => {
    const text = '`test/unit/bugs-of-others.test.ts`: "notices a test that is gone", "is ' + 'not there"';
    expect(missing(text)).toEqual(['is ' + 'not there']);
    expect(missing('`LifecycleTest.noSuch`; *no such scenario*')).toEqual([
      'LifecycleTest.noSuch',
      'no such scenario',
    ]);
  });

  it('names every test of test/protocol/bugs-of-others.test.ts', () => {
    const text = readFileSync(join(root, 'test/protocol/bugs-of-others.test.ts'), 'utf8');
    const titles = [...text.matchAll(/ it(?:\.each\(.*?\))?\('([^']+)'/g)].map(([, title = '']) => title);
    expect(titles.length).toBeGreaterThan(10);
    expect(titles.filter((title) => !page.includes(title))).toEqual([]);
  });
});
