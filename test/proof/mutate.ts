import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutations, type Mutation } from './mutations/index.js';
import { scenarios } from './scenarios/index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Verdict {
  /** The scenario and what it saw, or why the mutation says nothing. */
  readonly by: string;
  readonly isCaught: boolean;
  /** It does not apply, or breaks more than it should. */
  readonly isBroken: boolean;
}

/** Breaks the code in one way at a time and shows that a scenario notices. */
export async function mutate(
  only: string,
  workers: number,
  triesAll: boolean,
  print: (line: string) => void,
): Promise<boolean> {
  const chosen = mutations.filter(({ name }) => name.startsWith(only));
  const queue = [...chosen];
  const totals = { mutations: 0, caught: 0, passed: 0, failed: 0 };
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const verdict = await judge(next, triesAll);
      const isRight = !verdict.isBroken && verdict.isCaught === (next.isHarmless !== true);
      totals[isRight ? 'passed' : 'failed']++;
      if (next.isHarmless !== true) {
        totals.mutations++;
        if (verdict.isCaught && !verdict.isBroken) totals.caught++;
      }
      print(`${isRight ? 'ok' : 'NOT OK'}  ${next.name}: ${verdict.by}`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  print(JSON.stringify({ mutations: totals.mutations, caught: totals.caught }));
  print(`${totals.passed} passed, ${totals.failed} failed`);
  return totals.failed === 0;
}

async function judge(mutation: Mutation, triesAll: boolean): Promise<Verdict> {
  const dir = await mkdtemp(join(tmpdir(), 'commitbridge-mutation-'));
  try {
    for (const name of ['src', 'test/proof', 'proto', 'package.json', 'tsconfig.json'])
      await cp(join(root, name), join(dir, name), { recursive: true });
    await symlink(join(root, 'node_modules'), join(dir, 'node_modules'));
    for (const { file, find, replace } of mutation.edits) {
      const path = join(dir, 'src', file);
      const text = await readFile(path, 'utf8');
      if (text.split(find).length !== 2)
        return { by: `'${find}' is not in src/${file} exactly once`, isCaught: false, isBroken: true };
      await writeFile(
        path,
        text.replace(find, () => replace),
      );
    }
    const names = scenarios.map(({ name }) => name);
    const unknown = mutation.tryFirst.filter((name) => !names.includes(name));
    if (unknown.length > 0)
      return { by: `there is no scenario ${unknown.join()}`, isCaught: false, isBroken: true };
    const first = await prove(dir, mutation.tryFirst, mutation.store);
    if (first.isCaught || first.isBroken || mutation.isHarmless === true || !triesAll) return first;
    return await prove(
      dir,
      names.filter((name) => !mutation.tryFirst.includes(name)),
      mutation.store,
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function prove(dir: string, names: readonly string[], store: string | undefined): Promise<Verdict> {
  const only = names.flatMap((name) => ['--only', `=${name}`]);
  const args = [
    ...process.execArgv,
    'test/proof/run.ts',
    '--quick',
    '--stop',
    '--json',
    '--workers',
    '1',
    ...(store === undefined ? [] : ['--store', store]),
    ...only,
  ];
  const { output, code } = await run(args, dir);
  if (code === 0) return { by: 'no scenario notices', isCaught: false, isBroken: false };
  const lines = output.split('\n');
  const at = lines.findIndex((line) => / [1-9][0-9]* violations$/.test(line));
  // A mutant that falls over itself proves nothing about the scenarios.
  const isBroken = at === -1 || /(Type|Reference|Syntax)Error/.test(output);
  if (isBroken) return { by: `it does not run: ${output.slice(-1_000)}`, isCaught: false, isBroken: true };
  const [scenario = ''] = (lines[at] ?? '').split(': ');
  return { by: `${scenario}: ${(lines[at + 2] ?? '').trim()}`, isCaught: true, isBroken: false };
}

function run(args: readonly string[], cwd: string): Promise<{ output: string; code: number | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ output, code });
    });
  });
}
