/** Time and chance, so that the engine runs in a simulation. */
export interface Clock {
  /** Wall clock of this machine, ms since the epoch: for people and for records, never for decisions. */
  nowMs(): number;
  /** Never goes back; ms from an arbitrary start. */
  monotonicMs(): number;
  /** Resolves after that time; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` after that time, unless it's called off by the function returned: for what is called off mostly. */
  after(ms: number, run: () => void): () => void;
}

export interface Random {
  /** Cryptographically strong. */
  bytes(length: number): Uint8Array;
  /** Uniform in [0, 1): for jitter only. */
  fraction(): number;
}
