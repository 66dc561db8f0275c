import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Logger } from '../../ports/logger.js';
import { watchFiles } from './watched-files.js';

const minTokenLength = 16;

/** Bearer tokens and whose they are, from a file that is read again when it changes. */
export class TokenFile {
  private principals: ReadonlyMap<string, string>;
  private readonly stopWatching: () => void;

  /** Throws a sentence where the file can't be used. Later, a bad file is logged and the last good one counts. */
  constructor(path: string, logger: Logger) {
    this.principals = parseTokens(readFileSync(path, 'utf8'), path);
    this.stopWatching = watchFiles([path], () => {
      try {
        this.principals = parseTokens(readFileSync(path, 'utf8'), path);
        logger.info('tokens read again', { file: path, tokens: this.principals.size });
      } catch (error) {
        logger.error('tokens not read again', { file: path, error });
      }
    });
  }

  principalOf(token: string): string | undefined {
    return this.principals.get(digest(token));
  }

  close(): void {
    this.stopWatching();
  }
}

/** Tokens are kept and looked up by digest, so that the time of a look-up says nothing about them. */
function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

function parseTokens(text: string, path: string): Map<string, string> {
  const principals = new Map<string, string>();
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const [principal, token, ...rest] = line.trim().split(/\s+/);
    if (principal === undefined || token === undefined || rest.length > 0) {
      throw new Error(`${path} line ${i + 1} must be PRINCIPAL TOKEN`);
    }
    if (token.length < minTokenLength) {
      throw new Error(`${path} line ${i + 1} has a token of less than ${minTokenLength} characters`);
    }
    if (principals.has(digest(token)))
      throw new Error(`${path} line ${i + 1} has a token that is there twice`);
    principals.set(digest(token), principal);
  }
  return principals;
}
