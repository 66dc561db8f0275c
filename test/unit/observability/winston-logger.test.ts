import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { WinstonLogger } from '../../../src/observability/winston-logger.js';

function logged(level: 'debug' | 'info') {
  const lines: unknown[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  return { logger: WinstonLogger.create({ level, stream }), lines };
}

describe('WinstonLogger', () => {
  it('writes what its level asks for, also as a child', async () => {
    const { logger, lines } = logged('info');
    logger.debug('not this');
    logger.child({ a: 1 }).debug('nor this');
    logger.child({ a: 1 }).info('this');
    await logger.close();
    expect(lines).toMatchObject([{ level: 'info', message: 'this', a: 1 }]);
  });

  it('writes everything at debug', async () => {
    const { logger, lines } = logged('debug');
    logger.debug('one');
    logger.child({ a: 1 }).debug('two');
    await logger.close();
    expect(lines).toMatchObject([{ message: 'one' }, { message: 'two', a: 1 }]);
  });
});
