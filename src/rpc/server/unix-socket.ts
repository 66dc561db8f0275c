import { chmod, lstat, mkdir, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';

const directoryMode = 0o750;
const socketMode = 0o660;
/** While the socket is bound, so that it never has a wider mode, not even for a moment. */
const umaskWhileBinding = 0o117;

/**
 * Makes way for a socket: its directory is made, a socket that nobody answers on is removed. Throws a sentence where
 * another process answers, or where something that is no socket lies there.
 */
export async function makeWayForSocket(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: directoryMode });
  const stats = await lstat(path).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (stats === undefined) return;
  if (!stats.isSocket()) throw new Error(`${path} exists and is no socket: remove it, or change listen`);
  if (await isAnswered(path)) {
    throw new Error(`another process is listening on ${path}: stop it, or change listen`);
  }
  await unlink(path);
}

/** Runs `bind`, which creates the socket, and gives the socket its mode. */
export async function bindSocket<T>(path: string, bind: () => Promise<T>): Promise<T> {
  const before = process.umask(umaskWhileBinding);
  try {
    const result = await bind();
    await chmod(path, socketMode);
    return result;
  } finally {
    process.umask(before);
  }
}

async function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => {
      if (isErrno(error, 'ECONNREFUSED') || isErrno(error, 'ENOENT')) resolve(false);
      else reject(error);
    });
  });
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
