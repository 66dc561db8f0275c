import { describe, expect, it } from 'vitest';
import { nearest } from '../../../src/config/nearest.js';
import { parseDurationMs, parseSizeBytes } from '../../../src/config/units.js';

describe('durations', () => {
  it.each([
    ['0s', 0],
    ['250ms', 250],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
  ])('%s', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it.each(['', '5', '-5s', '5 s s', '5S', '0.0001ms'])('refuses %j', (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });
});

describe('sizes', () => {
  it.each([
    ['1B', 1],
    ['512KiB', 524_288],
    ['1.5MiB', 1_572_864],
  ])('%s', (text, bytes) => {
    expect(parseSizeBytes(text)).toBe(bytes);
  });

  it.each(['1KB', '8M', '1.3B', '99999999TiB'])('refuses %j', (text) => {
    expect(parseSizeBytes(text)).toBeUndefined();
  });
});

describe('nearest', () => {
  it('finds what was meant, and nothing where nothing is close', () => {
    expect(nearest('listne', ['listen', 'limits'])).toBe('listen');
    expect(nearest('zzz', ['listen', 'limits'])).toBeUndefined();
  });
});
