import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { renderConfigDocs } from '../../../src/config/print.js';

it('docs/configuration.md is what the schema says: write it anew with `npm run gen`', () => {
  expect(readFileSync('docs/configuration.md', 'utf8').trimEnd()).toBe(renderConfigDocs().trimEnd());
});
