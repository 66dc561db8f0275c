import type { ObjectRef, PutOptions, StoreCapabilities } from '../ports/object-store.js';
import { StoreError } from '../ports/object-store.js';
import { requireCapability } from './require-capability.js';

/** Servers disagree on the answer to these (some fail with a 500), so it is given here. */
export function checkKey({ maxKeyBytes }: StoreCapabilities, key: string): void {
  if (key === '') throw new StoreError('invalid', 'the key is empty');
  if (Buffer.byteLength(key) > maxKeyBytes) throw new StoreError('key-too-long', 'the key is too long');
}

export function checkPartNumber({ maxParts }: StoreCapabilities, partNumber: number): void {
  if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > maxParts) {
    throw new StoreError('invalid-parts', `a part number must be 1 to ${maxParts}`);
  }
}

export function checkPut(
  capabilities: StoreCapabilities,
  { key }: ObjectRef,
  { ifNoneMatch, ifMatch }: PutOptions,
): void {
  checkKey(capabilities, key);
  if (ifNoneMatch !== undefined) requireCapability(capabilities, 'conditionalPut');
  if (ifMatch !== undefined) requireCapability(capabilities, 'conditionalOverwrite');
}
