import { parseDurationMs } from '../config/units.js';
import { CommandError, exitCodes } from './exit-codes.js';
import type { Option, ParsedCommand } from './options.js';

export function olderThanOption(what: string, defaultText: string): Option {
  return {
    type: 'string',
    placeholder: 'AGE',
    doc: `${what} As 12h or 7d, by the store's clock. Default: ${defaultText}.`,
  };
}

/** `--older-than` in ms. */
export function parseOlderThan({ values }: ParsedCommand, defaultText: string): number {
  const value = values['older-than'];
  const text = typeof value === 'string' ? value : defaultText;
  const ms = parseDurationMs(text);
  if (ms === undefined) {
    throw new CommandError(
      exitCodes.usage,
      `--older-than takes a duration with a unit such as 45s, 15m, 12h or 7d, not "${text}".`,
    );
  }
  return ms;
}

/** The two largest units: `3d 4h`. */
export function showAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24];
  if (days > 0) return `${days}d ${hours}h`;
  return hours > 0 ? `${hours}h ${minutes % 60}m` : `${minutes}m`;
}
