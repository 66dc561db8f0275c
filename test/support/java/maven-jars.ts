import { copyFile, link, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { cacheDir, installOnce, runTool } from '../servers/index.js';

/** What a POM, with some of its properties set, depends on. */
export interface MavenJars {
  /** Of the directory below `.cache`. */
  readonly name: string;
  readonly pom: string;
  readonly properties: Readonly<Record<string, string>>;
  /** Completes the sentence of a missing tool. */
  readonly purpose: string;
}

/**
 * Fetches the jars of a class path once and returns their directory, which is named `jars`. They are links into
 * Maven's own repository: the AWS bundle alone has hundreds of MB.
 */
export async function installMavenJars({ name, pom, properties, purpose }: MavenJars): Promise<string> {
  const content = `${await readFile(pom, 'utf8')}${JSON.stringify(properties)}`;
  const home = await installOnce(join(cacheDir, name), content, async (workDir) => {
    const jars = join(workDir, 'jars');
    await mkdir(jars);
    const list = join(workDir, 'class-path.txt');
    const goal = ['dependency:build-classpath', '-DincludeScope=runtime', `-Dmdep.outputFile=${list}`];
    const given = Object.entries(properties).map(([key, value]) => `-D${key}=${value}`);
    await runTool('mvn', ['-B', '-q', '-f', pom, ...goal, ...given], { purpose });
    for (const jar of (await readFile(list, 'utf8')).trim().split(delimiter)) {
      await place(jar, join(jars, basename(jar)));
    }
    await rm(list);
  });
  return join(home, 'jars');
}

/** A hard link, which outlives a cleaned repository; where that can't be, a symbolic one, or a copy. */
async function place(jar: string, target: string): Promise<void> {
  for (const how of [link, symlink, copyFile]) {
    try {
      await how(jar, target);
      return;
    } catch (error) {
      if (how === copyFile) throw error;
    }
  }
}
