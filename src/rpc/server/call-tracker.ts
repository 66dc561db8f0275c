/** Counts the calls that are being answered, for a drain that waits for them. */
export class CallTracker {
  private running = 0;
  private waiting: (() => void)[] = [];

  get count(): number {
    return this.running;
  }

  /** Returns how to say that the call is over; saying it again does nothing. */
  begin(): () => void {
    this.running++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.running--;
      if (this.running > 0) return;
      const waiting = this.waiting;
      this.waiting = [];
      for (const resolve of waiting) resolve();
    };
  }

  /** Resolves when no call is running. */
  async idle(): Promise<void> {
    if (this.running === 0) return;
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
