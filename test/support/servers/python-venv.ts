import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installOnce } from './install-once.js';
import { cacheDir } from './paths.js';
import { runTool } from './run-tool.js';

/** Makes a virtual environment with the packages of a requirements.txt once and returns its Python. */
export async function installVenv(name: string, requirements: string, purpose: string): Promise<string> {
  const home = join(cacheDir, name);
  // Beside what installOnce moves: a virtual environment can't be moved.
  const venv = `${home}-venv`;
  await installOnce(home, await readFile(requirements, 'utf8'), async () => {
    await runTool('python3', ['-m', 'venv', '--clear', venv], { purpose });
    const install = ['install', '-q', '--disable-pip-version-check', '-r', requirements];
    await runTool(join(venv, 'bin/pip'), install, { purpose });
  });
  return join(venv, 'bin/python');
}
