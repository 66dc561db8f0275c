import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.js';
import { renderConfigDocs } from '../../../src/config/print.js';

describe('deploy/config.example.yaml', () => {
  it('loads', () => {
    const file = fileURLToPath(new URL('../../../deploy/config.example.yaml', import.meta.url));
    const { config } = loadConfig({ file });
    expect(config.roots[0]?.uri).toBe('s3a://example-warehouse/tables');
  });
});

describe('renderConfigDocs', () => {
  it('has a row with variable, type, default and meaning for a key', () => {
    expect(renderConfigDocs()).toContain(
      '| `log.level` | `COMMITBRIDGE_LOG_LEVEL` | debug \\| info \\| warn \\| error | `info` | The least that is logged. |',
    );
  });

  it('has the keys of stores and roots', () => {
    const text = renderConfigDocs();
    expect(text).toContain('| `stores.NAME.credentials.secretAccessKeyFile` |');
    expect(text).toContain('| `roots[].staging` |');
  });
});
