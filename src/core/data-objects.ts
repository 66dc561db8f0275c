/**
 * Whether a key below a directory is data, in the eyes of Spark and Hive: no marker of a directory, and no segment
 * that they hide. `_metadata` and `_common_metadata` describe data files and go with them.
 */
export function isDataObject(directoryKey: string, key: string): boolean {
  if (key.endsWith('/') || key.endsWith('_$folder$')) return false;
  const segments = key.slice(directoryKey === '' ? 0 : directoryKey.length + 1).split('/');
  return segments.every((segment) => !isHidden(segment));
}

function isHidden(segment: string): boolean {
  if (segment === '_metadata' || segment === '_common_metadata') return false;
  return segment.startsWith('.') || (segment.startsWith('_') && !segment.includes('='));
}
