/**
 * Runs this once what has arrived at sockets by now has been read. One `setImmediate` from within the reading of a socket comes
 * before any further reading; one set by that comes after it.
 */
export function afterNextPoll(run: () => void): void {
  // eslint-disable-next-line no-restricted-globals -- for what has arrived, not for a time
  setImmediate(() => setImmediate(run));
}
