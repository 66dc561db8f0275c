/** Concurrent duplicates of a call join the one that runs; the next one after its end runs anew. */
export class JoinedCalls {
  readonly #running = new Map<string, Promise<unknown>>();

  /** `name` must hold everything that the result depends on. */
  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(name);
    if (running !== undefined) return running as Promise<T>;
    const started = work().finally(() => this.#running.delete(name));
    this.#running.set(name, started);
    return started;
  }
}
