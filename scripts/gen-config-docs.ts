// Writes docs/configuration.md from the schema; a unit test fails where it is not up to date.
import { writeFileSync } from 'node:fs';
import { renderConfigDocs } from '../src/config/print.js';

writeFileSync('docs/configuration.md', `${renderConfigDocs().trimEnd()}\n`);
