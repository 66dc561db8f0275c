/** ISO 8601 in UTC of a time in ms since the epoch. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
