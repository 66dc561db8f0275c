/** Paths and queries as the signatures of S3 and OSS want them. */

export type Query = Readonly<Record<string, string>>;

export function encodeKey(key: string): string {
  return key.split('/').map(encodeRfc3986).join('/');
}

/** With the `?`; empty where there is nothing. */
export function encodeQuery(query: Readonly<Record<string, string | string[] | null>>): string {
  const text = Object.entries(query)
    .map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(String(value))}`)
    .join('&');
  return text === '' ? '' : `?${text}`;
}

/** As signatures want it: everything but letters, digits and `-._~`. */
function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
