import { createHash } from 'node:crypto';

export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** One text for one value: keys sorted, `undefined` left out. Records that mean the same are the same bytes. */
export function canonicalJson(value: Json): string {
  // The engine's own way is many times as fast, and right where the keys are in order already.
  return isOrdered(value) ? JSON.stringify(value) : sortedJson(value);
}

function isOrdered(value: Json): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) return (value as readonly Json[]).every(isOrdered);
  const object = value as Readonly<Record<string, Json | undefined>>;
  let before: string | undefined;
  for (const key of Object.keys(object)) {
    if (before !== undefined && before > key) return false;
    before = key;
    const field = object[key];
    if (field !== undefined && !isOrdered(field)) return false;
  }
  return true;
}

function sortedJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(sortedJson).join(',')}]`;
  const object = value as Readonly<Record<string, Json | undefined>>;
  const fields = Object.keys(object)
    .sort()
    .flatMap((key) => {
      const field = object[key];
      return field === undefined ? [] : [`${JSON.stringify(key)}:${sortedJson(field)}`];
    });
  return `{${fields.join(',')}}`;
}

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
