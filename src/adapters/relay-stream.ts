import { Readable } from 'node:stream';

export interface RelayOptions {
  /** Of what the source broke with; of nothing where it closed before its end. */
  readonly toError: (cause: unknown) => Error;
  /** The reader wants bytes. */
  readonly onWait?: () => void;
  /** Bytes came, or the stream is over. */
  readonly onBytes?: () => void;
}

/**
 * The same bytes in a stream that breaks with an error of our own. Destroying it destroys the source at once, also
 * while that is waiting for bytes; a generator around the source would wait with it.
 */
export function relayStream(source: Readable, options: RelayOptions): Readable {
  const { toError, onWait, onBytes } = options;
  let hasEnded = false;
  const relayed = new Readable({
    read() {
      onWait?.();
      source.resume();
    },
    destroy(error, callback) {
      onBytes?.();
      source.destroy();
      callback(error);
    },
  });
  source.on('data', (chunk: Uint8Array) => {
    onBytes?.();
    if (!relayed.push(chunk)) source.pause();
  });
  source.on('end', () => {
    hasEnded = true;
    onBytes?.();
    relayed.push(null);
  });
  source.on('error', (cause: unknown) => relayed.destroy(toError(cause)));
  source.on('close', () => {
    if (!hasEnded && !relayed.destroyed) relayed.destroy(toError(undefined));
  });
  source.pause();
  return relayed;
}
