import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

/** The root of the repository. */
export const repoRoot = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '');

/** What tests fetch or build once and keep between runs; never committed. */
export const cacheDir = join(repoRoot, '.cache');
