import { expect } from 'vitest';
import type { ErrorReasonName } from '../../../src/core/errors.js';
import { RpcError } from './rpc-error.js';

/**
 * Expects a call to fail with a reason of errors.proto, in the form that the protocol promises for every error:
 * details, the domain, RetryInfo where and only where the call may be repeated, trailers that fit.
 */
export async function expectError(
  call: Promise<unknown>,
  reason: ErrorReasonName,
  text = /./,
): Promise<RpcError> {
  const error = await call.then(
    (reply) => {
      throw new Error(`expected ${reason}, but the call was answered with ${JSON.stringify(reply)}`);
    },
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RpcError)) throw error;
  expect(`${error.reason} (${error.message})`).toMatch(new RegExp(`^${reason} `));
  expect(error.domain).toBe('commitbridge.io');
  expect(error.retryDelayMs !== undefined).toBe(error.code === 'UNAVAILABLE');
  expect(error.trailerBytes).toBeLessThan(8 * 1024 - 512);
  expect(error.message).toMatch(text);
  return error;
}
