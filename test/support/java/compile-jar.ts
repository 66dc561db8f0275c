import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { cacheDir, installOnce, runTool } from '../servers/index.js';

export interface Sources {
  /** Of the directory below `.cache`. */
  readonly name: string;
  readonly directory: string;
  readonly only?: (file: string) => boolean;
  /** A directory of jars. */
  readonly jars: string;
  readonly bundleJar?: string | undefined;
  /** What else the classes depend on. */
  readonly version: unknown;
  readonly purpose: string;
}

/** Compiles the Java files of a directory once, as long as they are the same, and returns the jar. */
export async function compileJar(sources: Sources): Promise<string> {
  const { directory, jars, bundleJar, purpose } = sources;
  const files = (await readdir(directory, { recursive: true }))
    .filter((name) => name.endsWith('.java'))
    .filter((name) => sources.only?.(name) ?? true)
    .sort();
  const hash = createHash('sha256').update(JSON.stringify(sources.version));
  for (const name of files) hash.update(name).update(await readFile(join(directory, name)));
  if (bundleJar !== undefined) hash.update(await readFile(bundleJar));
  const built = await installOnce(join(cacheDir, sources.name), hash.digest('hex'), async (workDir) => {
    const classes = join(workDir, 'classes');
    const classPath = [join(jars, '*'), ...(bundleJar === undefined ? [] : [bundleJar])].join(delimiter);
    const paths = files.map((name) => join(directory, name));
    const options = ['-nowarn', '-proc:none', '-encoding', 'UTF-8', '-cp', classPath, '-d', classes];
    await runTool('javac', [...options, ...paths], { purpose });
    await runTool('jar', ['--create', '--file', join(workDir, 'jobs.jar'), '-C', classes, '.'], { purpose });
  });
  return join(built, 'jobs.jar');
}
