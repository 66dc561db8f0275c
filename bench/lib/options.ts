import { parseArgs } from 'node:util';

/** Options of a benchmark: `--json`, and numbers or texts with their defaults. */
export function options<T extends Record<string, number | string>>(
  defaults: T,
): { json: boolean } & { [K in keyof T]: T[K] extends number ? number : string } {
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
