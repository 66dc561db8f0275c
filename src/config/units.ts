const durations: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const sizes: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};

/** `45s`, `1.5h`, `250ms`: milliseconds, or `undefined` where the text is no duration. */
export function parseDurationMs(text: string): number | undefined {
  return parseWithUnit(text, durations);
}

/** `16MiB`, `512KiB`, `100B`: bytes, or `undefined` where the text is no size. */
export function parseSizeBytes(text: string): number | undefined {
  return parseWithUnit(text, sizes);
}

function parseWithUnit(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([A-Za-z]+)$/.exec(text.trim());
  const factor = match?.[2] === undefined ? undefined : units[match[2]];
  if (match === null || factor === undefined) return undefined;
  const value = Number(match[1]) * factor;
  return Number.isSafeInteger(value) ? value : undefined;
}
