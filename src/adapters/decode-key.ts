/** A key from a listing that was asked for with `encoding-type=url`, which a server may ignore. */
export function decodeKey(key: string, encoding: string | undefined): string {
  return encoding === 'url' ? decodeURIComponent(key.replaceAll('+', '%20')) : key;
}
