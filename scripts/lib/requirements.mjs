// What this repository needs on a machine. Plain Node without dependencies: it runs before `npm ci`, on old Nodes too.
import { spawnSync } from 'node:child_process';

/**
 * @typedef {object} Requirement
 * @property {string} name what it is called in messages
 * @property {() => string | undefined} version the version found, undefined when there is none
 * @property {string} atLeast
 * @property {string} howToGet
 */

/** @type {Record<string, Requirement>} */
const known = {
  node: {
    name: 'Node.js',
    version: () => process.versions.node,
    atLeast: '20.19',
    howToGet: 'https://nodejs.org/en/download, or your version manager (nvm install 22)',
  },
  jdk: {
    name: 'a JDK (javac, not only java)',
    version: () => versionOf('javac', ['-version'], /javac (\d+(?:\.\d+)*)/),
    atLeast: '17',
    howToGet:
      'apt-get install openjdk-17-jdk-headless, dnf install java-17-openjdk-devel, brew install openjdk@17',
  },
  java: {
    name: 'java',
    version: () => versionOf('java', ['-version'], /version "(\d+(?:\.\d+)*)/),
    atLeast: '17',
    howToGet: 'the JDK above: put its bin directory first on PATH',
  },
  maven: {
    name: 'Apache Maven',
    version: () => versionOf('mvn', ['--version'], /Apache Maven (\d+(?:\.\d+)*)/),
    atLeast: '3.6.3',
    howToGet: 'apt-get install maven, dnf install maven, brew install maven',
  },
  go: {
    name: 'Go',
    version: () => versionOf('go', ['version'], /go(\d+(?:\.\d+)*)/),
    atLeast: '1.25',
    howToGet: 'https://go.dev/dl, brew install go',
  },
  python: {
    name: 'Python',
    version: () => versionOf('python3', ['--version'], /Python (\d+(?:\.\d+)*)/),
    atLeast: '3.9',
    howToGet: 'apt-get install python3 python3-venv, brew install python',
  },
};

export const forQuickstart = ['node', 'jdk', 'java', 'maven'];

/**
 * Names the requirements in a sentence.
 * @param {string[]} names
 */
export function requirementText(names) {
  return names
    .filter((name) => name !== 'java') // comes with the JDK
    .map((name) => `${known[name].name} ${known[name].atLeast} or later`)
    .join(', ');
}

/**
 * Looks for the named requirements and returns a sentence for each that is missing or too old.
 * @param {string[]} names
 * @returns {string[]}
 */
export function missingRequirements(names) {
  return names.flatMap((name) => {
    const requirement = known[name];
    const found = requirement.version();
    if (found !== undefined && isAtLeast(found, requirement.atLeast)) return [];
    const problem = found === undefined ? 'was not found on PATH' : `is ${found}, which is too old`;
    return [
      `${requirement.name} ${problem}: version ${requirement.atLeast} or later is needed. Get it: ${requirement.howToGet}.`,
    ];
  });
}

/**
 * Ends the process with a sentence for everything that is missing.
 * @param {string[]} names
 * @param {string} purpose for example 'npm test'
 */
export function requireTools(names, purpose) {
  const missing = missingRequirements(names);
  if (missing.length === 0) return;
  console.error(`${purpose} can't run on this machine:`);
  for (const sentence of missing) console.error(`  - ${sentence}`);
  process.exit(1);
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {RegExp} pattern with the version as its first group
 */
function versionOf(command, args, pattern) {
  const { error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 60_000 });
  if (error !== undefined) return undefined;
  return pattern.exec(`${stdout}\n${stderr}`)?.[1];
}

/**
 * @param {string} found
 * @param {string} wanted
 */
export function isAtLeast(found, wanted) {
  const a = found.split('.').map(Number);
  const b = wanted.split('.').map(Number);
  for (let i = 0; i < b.length; i++) {
    const difference = (a[i] ?? 0) - b[i];
    if (difference !== 0) return difference > 0;
  }
  return true;
}
