import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const marker = '.complete';

/**
 * Fills `directory` once, whoever asks and however many ask at the same time. `fill` works in a directory beside it,
 * which is renamed into place when it is complete, so a half-filled one is never seen; a lock file spares the others
 * the same work, and one left by a dead process is taken over. `version` is what the content depends on: another one
 * fills the directory anew.
 */
export async function installOnce(
  directory: string,
  version: string,
  fill: (workDir: string) => Promise<void>,
): Promise<string> {
  if (await isComplete(directory, version)) return directory;
  await mkdir(dirname(directory), { recursive: true });
  const lock = `${directory}.lock`;
  while (!(await takeLock(lock))) {
    await sleep(200);
    if (await isComplete(directory, version)) return directory;
  }
  try {
    if (await isComplete(directory, version)) return directory;
    const workDir = `${directory}.${process.pid}.tmp`;
    await rm(workDir, { recursive: true, force: true });
    await mkdir(workDir, { recursive: true });
    try {
      await fill(workDir);
      await writeMarker(workDir, version);
      await rm(directory, { recursive: true, force: true });
      await rename(workDir, directory);
    } finally {
      await rm(workDir, { recursive: true, force: true });
    }
    return directory;
  } finally {
    await rm(lock, { force: true });
  }
}

async function isComplete(directory: string, version: string): Promise<boolean> {
  try {
    return (await readFile(`${directory}/${marker}`, 'utf8')) === version;
  } catch {
    return false;
  }
}

async function writeMarker(directory: string, version: string): Promise<void> {
  const file = await open(`${directory}/${marker}`, 'w');
  await file.writeFile(version);
  await file.close();
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    const file = await open(lock, 'wx');
    await file.writeFile(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (await ownerIsDead(lock)) await rm(lock, { force: true });
  return false;
}

async function ownerIsDead(lock: string): Promise<boolean> {
  try {
    const pid = Number(await readFile(lock, 'utf8'));
    if (pid === 0) return Date.now() - (await stat(lock)).mtimeMs > 10_000; // created, but never written
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
