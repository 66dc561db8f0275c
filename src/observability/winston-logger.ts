import type { Writable } from 'node:stream';
import { createLogger, format, type Logger as Winston, transports } from 'winston';
import type { LogFields, Logger } from '../ports/logger.js';

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Default: stderr. stdout belongs to results. */
  readonly stream?: Writable;
}

/** One JSON object a line: `time`, `level`, `message`, then the fields of the event. */
export class WinstonLogger implements Logger {
  private constructor(
    private readonly winston: Winston,
    /** winston sends a line of debug through its streams before it looks whether anybody wants it. */
    private readonly hasDebug: boolean,
    /** Shared with children: winston throws at a line after its end, and a cut call may log late. */
    private readonly state: { isClosed: boolean } = { isClosed: false },
  ) {}

  static create(options: LoggerOptions): WinstonLogger {
    const stream = options.stream ?? process.stderr;
    return new WinstonLogger(
      createLogger({
        level: options.level,
        format: format.combine(
          format.timestamp({ alias: 'time' }),
          format.printf(({ timestamp: _, time, level, message, ...fields }) =>
            JSON.stringify({ time, level, message, ...fields }, errorsAsFields),
          ),
        ),
        // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- winston's types of it differ
        transports: [new transports.Stream({ stream })],
      }),
      options.level === 'debug',
    );
  }

  debug(message: string, fields?: LogFields): void {
    if (this.hasDebug && !this.state.isClosed) this.winston.debug(message, fields);
  }

  info(message: string, fields?: LogFields): void {
    if (!this.state.isClosed) this.winston.info(message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    if (!this.state.isClosed) this.winston.warn(message, fields);
  }

  error(message: string, fields?: LogFields): void {
    if (!this.state.isClosed) this.winston.error(message, fields);
  }

  child(fields: LogFields): Logger {
    return new WinstonLogger(this.winston.child(fields), this.hasDebug, this.state);
  }

  /** Resolves when every line has been written. What is logged later is dropped. */
  async close(): Promise<void> {
    if (this.state.isClosed) return;
    this.state.isClosed = true;
    await new Promise<void>((resolve) => {
      this.winston.once('finish', resolve);
      this.winston.end();
    });
  }
}

function errorsAsFields(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { name, message, stack, ...(cause === undefined ? {} : { cause }) };
}
