import { parseArgs } from 'node:util';

type Chosen<T> = { json: boolean } & { [K in keyof T]: T[K] extends number ? number : string };

/** Options of a benchmark: `--json`, and numbers or texts with their defaults. Ends the process after `--help`. */
export function options<T extends Record<string, number | string>>(defaults: T): Chosen<T> {
  const known = Object.entries(defaults).map(([name, byDefault]) => `  --${name} ${byDefault}`);
  const usage = ['Options, with their defaults:', ...known, '  --json', 'See docs/performance.md.'].join(
    '\n',
  );
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parsed(defaults);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(2);
  }
}

function parsed<T extends Record<string, number | string>>(defaults: T): Chosen<T> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      ...Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' as const }])),
    },
  });
  const given = values as Record<string, string | boolean | undefined>;
  const chosen = Object.entries(defaults).map(([name, byDefault]) => {
    const text = given[name];
    if (text === undefined) return [name, byDefault] as const;
    if (typeof byDefault === 'string') return [name, text] as const;
    const number = Number(text);
    if (!(number > 0)) throw new Error(`--${name} takes a number above 0, not '${String(text)}'.`);
    return [name, number] as const;
  });
  return { json: given['json'] === true, ...Object.fromEntries(chosen) } as never;
}
