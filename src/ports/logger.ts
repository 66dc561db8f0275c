/** One event = one constant message and fields. Never a key list, a secret or a signed URL. */
export interface Logger {
  /** Store calls and the like. */
  debug(message: string, fields?: LogFields): void;
  /** Steps in the life of a job. */
  info(message: string, fields?: LogFields): void;
  /** Something was wrong and was dealt with. */
  warn(message: string, fields?: LogFields): void;
  /** Something is wrong and somebody must look. */
  error(message: string, fields?: LogFields): void;
  /** The same logger with fields added to each event. */
  child(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;
