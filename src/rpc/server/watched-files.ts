import { type StatsListener, unwatchFile, watchFile } from 'node:fs';

const pollMs = 2_000;

/**
 * Calls back after one of the files changed. It polls, since Kubernetes swaps a symbolic link above the file, which
 * change notifications miss. Returns how to stop.
 */
export function watchFiles(paths: readonly string[], onChange: () => void): () => void {
  const listener: StatsListener = (now, before) => {
    if (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino || now.size !== before.size) onChange();
  };
  for (const path of paths) watchFile(path, { interval: pollMs, persistent: false }, listener);
  return () => {
    for (const path of paths) unwatchFile(path, listener);
  };
}
