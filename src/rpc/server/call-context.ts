import type { Metadata } from '@grpc/grpc-js';
import { CommitterError } from '../../core/errors.js';

/** What the server found out about a call before its handler runs. */
export interface CallContext {
  /** Who calls: a name from the tokens file or a client certificate, else `local` or `anonymous`. */
  readonly principal: string;
  /** The client's `x-request-id`, or one of ours; in every log line of the call. */
  readonly requestId: string;
  /** The handler is done with it; its client may have gone long since. */
  readonly over: () => void;
}

/** Keyed by the metadata object that grpc-js hands from interceptor to handler: a client can't forge it. */
const contexts = new WeakMap<Metadata, CallContext>();

export function attachContext(metadata: Metadata, context: CallContext): void {
  contexts.set(metadata, context);
}

/** For handlers. A call that passed no authentication has no context and is refused. */
export function contextOf(call: { readonly metadata: Metadata }): CallContext {
  const context = contexts.get(call.metadata);
  if (context === undefined) throw new CommitterError('UNAUTHENTICATED', 'the call carries no identity');
  return context;
}

export function principalOf(call: { readonly metadata: Metadata }): string {
  return contextOf(call).principal;
}
