import type { StoreCapabilities } from '../ports/object-store.js';
import { StoreError } from '../ports/object-store.js';

type CallCapability = {
  [K in keyof StoreCapabilities]: StoreCapabilities[K] extends boolean ? K : never;
}[keyof StoreCapabilities];

/** What a store can't do isn't sent to it: it might ignore a condition instead of refusing it. */
export function requireCapability(capabilities: StoreCapabilities, name: CallCapability): void {
  if (!capabilities[name]) {
    throw new StoreError('unsupported', `the store lacks a capability: capability=${name}`);
  }
}
