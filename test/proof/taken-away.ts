/** Stands for whoever isn't a job. */
export const foreign = '';

/** Whose object is at each key, and who put its own over whose without being asked to look. */
export class TakenAway {
  private readonly owners = new Map<string, string>();
  private readonly takers = new Map<string, { readonly loser: string; readonly taker: string }[]>();

  set(key: string, owner: string): void {
    this.owners.set(key, owner);
  }

  /** The job's object is there now. */
  note(key: string, token: string, mayTake: boolean): void {
    const loser = this.owners.get(key);
    this.owners.set(key, token);
    if (!mayTake || loser === undefined || loser === token) return;
    const known = this.takers.get(key);
    if (known === undefined) this.takers.set(key, [{ loser, taker: token }]);
    else known.push({ loser, taker: token });
  }

  /** The jobs that did so at that key. */
  by(key: string, loser?: string): string[] {
    const taken = this.takers.get(key) ?? [];
    return taken.filter((each) => loser === undefined || each.loser === loser).map(({ taker }) => taker);
  }
}
