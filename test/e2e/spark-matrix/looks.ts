import type { ObservedRequest, Rule } from '../../support/observer/index.js';
import type { Stage } from './stage.js';

/** What a request is for, by its kind and by what its key says. */
function stepOf({ kind, key }: ObservedRequest): string {
  const fact = /\/(job|decision|plan|outcome|tasks|opened)\b[^/]*/.exec(key)?.[1];
  return fact !== undefined && key.startsWith('.commitbridge/') ? `${kind} ${fact}` : kind;
}

/**
 * An independent client that lists a directory before each request to the store, up to the first file that is
 * published: that request and those beside it wait for the last look.
 */
export class Looks {
  /** Before which requests it looked. */
  readonly steps = new Set<string>();
  /** What it saw, each look. */
  readonly seen: string[][] = [];
  private readonly rule: Rule;
  private last: Promise<void> | undefined;

  constructor(
    private readonly stage: Stage,
    private readonly directory: string,
  ) {
    this.rule = stage.observer.on({}, async (request) => {
      if (this.last !== undefined) await this.last;
      else if (this.isPublished(request)) await (this.last = this.look(request));
      else await this.look(request);
      return undefined;
    });
  }

  /** Inline files are put. */
  private isPublished({ kind, key }: ObservedRequest): boolean {
    return kind === 'complete' || (kind === 'put' && key.startsWith(`${this.directory}/`));
  }

  end(): void {
    this.rule.remove();
  }

  private async look(request: ObservedRequest): Promise<void> {
    const files = await this.stage.exactFiles(this.directory);
    this.steps.add(stepOf(request));
    this.seen.push(files.filter((file) => file !== '_SUCCESS'));
  }
}
