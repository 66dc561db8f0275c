import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ManagedChild } from './child-process.js';
import { installOnce } from './install-once.js';
import { cacheDir } from './paths.js';
import { runTool } from './run-tool.js';
import { startServer, type S3Server, type S3ServerOptions } from './s3-server.js';

const version = 'v1.8.0';

/** Builds versitygw once into `.cache` and returns the path of its binary. */
export async function installVersityGw(): Promise<string> {
  const directory = await installOnce(join(cacheDir, `versitygw-${version}`), version, async (workDir) => {
    await runTool('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${version}`], {
      purpose: 'versitygw, the second S3 server of the tests,',
      env: { GOBIN: workDir, GOFLAGS: '-mod=mod' },
    });
  });
  return join(directory, 'versitygw');
}

/** Starts versitygw on a POSIX directory; building it the first time needs Go. */
export async function startVersityGw(options: S3ServerOptions = {}): Promise<S3Server> {
  const binary = await installVersityGw();
  return startServer('versitygw', options, async (settings) => {
    // The file system of a temporary directory may lack extended attributes, which versitygw would keep metadata in.
    const objects = join(settings.dir, 'objects');
    const sidecar = join(settings.dir, 'metadata');
    await mkdir(objects, { recursive: true });
    await mkdir(sidecar, { recursive: true });
    const args = [
      '--port',
      `127.0.0.1:${settings.port}`,
      '--region',
      settings.region,
      '--keep-alive',
      '--quiet',
    ];
    return ManagedChild.start(binary, [...args, 'posix', '--sidecar', sidecar, objects], {
      env: { ROOT_ACCESS_KEY: settings.accessKey, ROOT_SECRET_KEY: settings.secretKey },
    });
  });
}
