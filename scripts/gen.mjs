// Generates the TypeScript types of the wire contract; `--check` fails where they are not up to date.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const check = process.argv.includes('--check');
const target = 'src/rpc/generated';
const outDir = check ? mkdtempSync(join(tmpdir(), 'commitbridge-gen-')) : target;
if (!check) rmSync(target, { recursive: true, force: true });
execFileSync(
  'npx',
  [
    'proto-loader-gen-types',
    '--longs=String',
    '--enums=String',
    '--bytes=Buffer',
    '--defaults',
    '--oneofs',
    '--grpcLib=@grpc/grpc-js',
    '--targetFileExtension=.ts',
    '--importFileExtension=.js',
    '--includeDirs=proto',
    `--outDir=${outDir}`,
    ...['job_service', 'upload_service', 'admin_service', 'errors'].map(
      (name) => `commitbridge/v1/${name}.proto`,
    ),
  ],
  { stdio: 'inherit' },
);
if (check) {
  try {
    execFileSync('diff', ['-r', '-x', '*.proto', outDir, target], { stdio: 'inherit' });
  } catch {
    console.error(`${target} does not match proto/: run \`npm run gen\``);
    process.exitCode = 1;
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}
