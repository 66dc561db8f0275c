import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDir, installOnce, runTool } from '../servers/index.js';

/**
 * An archive of the classes of a stock Hadoop (class data sharing) for JVMs whose class path begins with its jars.
 * A job is a dozen JVMs that live for seconds, and loading classes is most of what they do.
 *
 * @param jars a directory
 * @param train runs a job whose JVMs all have the given option
 * @returns the option that uses it
 */
export async function archiveClasses(
  name: string,
  jars: string,
  train: (option: string) => Promise<unknown>,
): Promise<string> {
  const java = await runTool('java', ['-XshowSettings:properties', '--version'], { purpose: 'Hadoop' });
  const key = JSON.stringify([java, jars, (await readdir(jars)).sort()]);
  const directory = await installOnce(join(cacheDir, name), key, async (workDir) => {
    const lists = join(workDir, 'lists');
    await mkdir(lists);
    await train(`-XX:DumpLoadedClassList=${join(lists, '%p')}`);
    const list = join(workDir, 'classes.txt');
    await writeFile(list, await classesIn(lists));
    const archive = join(workDir, 'hadoop.jsa');
    const dump = ['-Xshare:dump', `-XX:SharedClassListFile=${list}`, `-XX:SharedArchiveFile=${archive}`];
    await runTool('java', [...dump, '-cp', join(jars, '*')], { purpose: 'Hadoop' });
  });
  // A JVM that it doesn't fit starts without it.
  return `-XX:SharedArchiveFile=${join(directory, 'hadoop.jsa')}`;
}

/** Each class once, as a list of one JVM would name it. */
async function classesIn(directory: string): Promise<string> {
  const lines = new Set<string>();
  for (const name of await readdir(directory)) {
    // A JVM that was killed didn't end its last line.
    const whole = (await readFile(join(directory, name), 'utf8')).split('\n').slice(0, -1);
    // Numbers are those of one JVM, and classes with a source are another loader's.
    for (const line of whole) if (!line.includes(' source: ')) lines.add(line.replace(/ id: \d+$/, ''));
  }
  return `${[...lines].join('\n')}\n`;
}
