import { parseUri } from '../core/uri.js';
import { batchLimits, protocolVersion, type AppContext } from './context.js';
import { inlineLimits, type InlineLimits } from './inline-limits.js';

export interface ServerInfo {
  readonly version: string;
  readonly protocolVersion: { readonly min: number; readonly max: number };
  readonly dataPlanes: readonly ('direct' | 'inline')[];
  readonly limits: {
    readonly maxMessageBytes: number;
    readonly maxBatchBytes: number;
    readonly maxKeyBytes: number;
    readonly maxParts: number;
    readonly minPartBytes: number;
    readonly maxObjectBytes: number;
    readonly maxSignedParts: number;
  } & InlineLimits;
}

/** With a destination, the limits of its root's store; without one, those that every root keeps. */
export function serverInfo(ctx: AppContext, destination: string, principal: string): ServerInfo {
  const roots =
    destination === '' ? ctx.roots.all : [ctx.roots.resolve(parseUri(destination, 'destination'), principal)];
  const capabilities = roots.map(({ store }) => store.capabilities);
  const isSigning = capabilities.every(({ presign }) => presign);
  const inline = inlineLimits(ctx, ...capabilities);
  return {
    version: ctx.options.version,
    protocolVersion,
    dataPlanes: [
      ...(isSigning ? (['direct'] as const) : []),
      ...(inline.maxInlineBytes > 0 ? (['inline'] as const) : []),
    ],
    limits: {
      maxMessageBytes: ctx.options.maxMessageBytes,
      maxBatchBytes: batchLimits.maxBatchBytes,
      maxKeyBytes: Math.min(...capabilities.map((each) => each.maxKeyBytes)),
      maxParts: Math.min(...capabilities.map((each) => each.maxParts)),
      minPartBytes: Math.max(...capabilities.map((each) => each.minPartBytes)),
      maxObjectBytes: Math.min(...capabilities.map((each) => each.maxObjectBytes)),
      maxSignedParts: batchLimits.maxSignedParts,
      ...inline,
    },
  };
}
