/** A file of Hadoop's configuration, which may include others that lie beside it. */
export function siteXml(conf: Readonly<Record<string, string>>, include: readonly string[] = []): string {
  const properties = Object.entries(conf).map(
    ([name, value]) => `  <property><name>${escape(name)}</name><value>${escape(value)}</value></property>`,
  );
  const includes = include.map((file) => `  <xi:include href="${file}"/>`);
  return [
    '<?xml version="1.0"?>',
    '<configuration xmlns:xi="http://www.w3.org/2001/XInclude">',
    ...includes,
    ...properties,
    '</configuration>\n',
  ].join('\n');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
