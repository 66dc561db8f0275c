/** Stands for whoever isn't a job. */
export const foreign = '';

/** Which jobs' Completes put an object where others had theirs, without being asked to look. */
export class TakenAway {
  private readonly foreignKeys = new Set<string>();
  /** Of each key the jobs whose Completes may have taken another's place, and whether that was a foreign one's. */
  private readonly completers = new Map<string, Map<string, boolean>>();

  addForeign(key: string): void {
    this.foreignKeys.add(key);
  }

  /** The job's object is there now, by a Complete that may take another's place. */
  note(key: string, token: string): void {
    const known = this.completers.get(key) ?? new Map<string, boolean>();
    this.completers.set(key, known);
    known.set(token, known.get(token) === true || this.foreignKeys.has(key));
    this.foreignKeys.delete(key);
  }

  /**
   * The jobs that may have done so to that one's object. Of two Completes that have their effects together only the
   * later one's object is seen, so that nobody knows whether the other one's was there.
   */
  by(key: string, loser?: string): string[] {
    const found = [...(this.completers.get(key) ?? [])];
    return found
      .filter(([token, tookForeign]) => (loser === foreign ? tookForeign : token !== loser))
      .map(([token]) => token);
  }
}
