import type { Root } from './roots.js';

/** One root for each place where jobs leave their state: several roots may share a staging root. */
export function stagingRoots(roots: readonly Root[]): Root[] {
  const seen = new Map<string, Root>();
  for (const root of roots) {
    const name = `${root.storeName} ${root.staging.bucket}/${root.staging.key}`;
    if (!seen.has(name)) seen.set(name, root);
  }
  return [...seen.values()];
}
