export const exitCodes = {
  ok: 0,
  failed: 1,
  /** Bad usage or configuration. */
  usage: 2,
  /** The thing that was asked about is not as it should be. */
  expectation: 3,
  /** A store or daemon gave no answer. */
  unreachable: 4,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command: sentences for stderr and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
  ) {
    super(message);
  }
}
