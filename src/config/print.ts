import { stringify } from 'yaml';
import { fileKeySuffix } from './entries.js';
import { envName } from './layers.js';
import type { Effective } from './resolve.js';
import { schema } from './schema.js';
import type { Node, Section } from './schema-nodes.js';

/** A line `key: value  # origin` for each key that has a value. Secrets are masked already. */
export function renderEffective(effective: readonly Effective[]): string {
  return effective
    .map(({ path, shown, origin }) => `${path}: ${flow(shown)}  # ${origin}`)
    .map((line) => `${line}\n`)
    .join('');
}

function flow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trim();
}

/** docs/configuration.md: every key, from the schema. */
export function renderConfigDocs(): string {
  const lines = [
    '# Configuration',
    '',
    'This page is generated from the schema in `src/config/schema.ts`.',
    '',
    'A key is taken from the first of these that has it: a flag, an environment variable, the YAML file',
    '(`--config FILE`, or `COMMITBRIDGE_CONFIG`), the default. They are merged key by key; a list is one key.',
    'Unknown keys are refused. `commitbridge serve --print-config` shows every value and where it came from, with',
    'secrets masked.',
    '',
    'Durations and sizes are written with a unit: `500ms`, `45s`, `15m`, `2h`, `7d`; `512KiB`, `8MiB`, `1GiB`.',
    'A secret `x` may be given as `xFile`, the path of a file that holds it.',
    '',
    'Environment variables: lists take commas, `COMMITBRIDGE_ROOTS` takes YAML or JSON. In names of stores `_`',
    'stands for `-`. Flags: `--log-level debug` for `log.level`, and `--set KEY=VALUE` for any key.',
    '',
    '| key | environment variable | takes | default | meaning |',
    '|---|---|---|---|---|',
    ...docRows(schema, []),
    '',
  ];
  return lines.join('\n');
}

function docRows(node: Section, path: readonly string[]): string[] {
  return Object.entries(node.keys).flatMap(([key, child]) => docRowsOf(child, [...path, key]));
}

function docRowsOf(node: Node, path: readonly string[]): string[] {
  switch (node.kind) {
    case 'leaf': {
      const own = row(path, node.type, node.isRequired ? 'required' : (node.defaultText ?? ''), node.doc);
      if (!node.isSecret) return [own];
      const filePath = [...path.slice(0, -1), `${path.at(-1) ?? ''}${fileKeySuffix}`];
      return [own, row(filePath, 'path', '', `File that holds \`${path.at(-1) ?? ''}\`.`)];
    }
    case 'section':
      return [headRow(path, node.doc), ...docRows(node, path)];
    case 'named':
      return [headRow(path, node.doc), ...docRows(node.of, [...path, node.placeholder])];
    case 'list': {
      if (node.of.kind === 'section') {
        const last = `${path.at(-1) ?? ''}[]`;
        return [row(path, 'list', '', node.doc), ...docRows(node.of, [...path.slice(0, -1), last])];
      }
      return [row(path, 'list of text', node.defaultText.join(', '), node.doc)];
    }
  }
}

function headRow(path: readonly string[], doc: string): string {
  return `| **\`${path.join('.')}\`** | | | | ${escape(doc)} |`;
}

function row(path: readonly string[], type: string, defaultText: string, doc: string): string {
  const env = path.some((part) => part.endsWith('[]')) ? '' : `\`${envName(path)}\``;
  const shownDefault = defaultText === '' || defaultText === 'required' ? defaultText : `\`${defaultText}\``;
  return `| \`${path.join('.')}\` | ${env} | ${escape(type)} | ${shownDefault} | ${escape(doc)} |`;
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|');
}
