// How many tests passed, failed and were skipped, from the reports that test runners write.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {string[]} failures a line for each failure
 */

/** @returns {Counts} */
export function noCounts() {
  return { passed: 0, failed: 0, skipped: 0, failures: [] };
}

/**
 * Of a run as a whole: one that reports no failure and yet ended with an error, or that ran nothing, has failed.
 * @param {Counts} counts
 * @param {number} exitCode
 * @returns {Counts}
 */
export function judged(counts, exitCode) {
  if (counts.failed > 0) return counts;
  if (exitCode !== 0) return withFailure(counts, `it ended with exit code ${exitCode}; see its output above`);
  if (counts.passed === 0 && counts.skipped === 0) return withFailure(counts, 'it ran no tests');
  return counts;
}

/**
 * @param {Counts} counts
 * @param {string} line
 * @returns {Counts}
 */
export function withFailure(counts, line) {
  return { ...counts, failed: counts.failed + 1, failures: [...counts.failures, line] };
}

/**
 * Of a command that ends with a line as `12 passed, 0 failed`.
 * @param {string} line
 * @returns {Counts}
 */
export function closingLineCounts(line) {
  const match = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(line.trim());
  if (match === null) return withFailure(noCounts(), 'it did not say how many passed');
  const [, passed, failed, skipped = 0] = match.map(Number);
  const failures = failed > 0 ? [`${failed} failed; see the output above`] : [];
  return { passed, failed, skipped: skipped || 0, failures };
}

/**
 * Of the file that vitest's JSON reporter writes. A test file that couldn't be loaded counts as one failure.
 * @param {string} file
 * @param {string} root what the names of test files are relative to
 * @returns {Counts}
 */
export function vitestCounts(file, root) {
  if (!existsSync(file)) return withFailure(noCounts(), 'vitest could not start');
  const counts = noCounts();
  for (const { name: path, status, message, assertionResults } of JSON.parse(readFileSync(file, 'utf8'))
    .testResults) {
    const name = relative(root, path);
    let failedHere = 0;
    for (const test of assertionResults) {
      if (test.status === 'passed') counts.passed += 1;
      else if (test.status === 'failed') {
        failedHere += 1;
        counts.failures.push(`${name}: ${test.fullName}`);
      } else counts.skipped += 1;
    }
    if (status === 'failed' && failedHere === 0) {
      failedHere = 1;
      counts.failures.push(`${name}: ${(message ?? '').split('\n')[0]}`);
    }
    counts.failed += failedHere;
  }
  return counts;
}

/**
 * Of the reports that Surefire and Failsafe leave in the modules of java-shim.
 * @param {string[]} modules directories
 * @returns {Counts}
 */
export function surefireCounts(modules) {
  const counts = noCounts();
  for (const file of surefireReports(modules)) {
    const xml = readFileSync(file, 'utf8');
    const suite = /<testsuite\b[^>]*>/.exec(xml)?.[0] ?? '';
    const number = (name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
    const failed = number('failures') + number('errors');
    counts.failed += failed;
    counts.skipped += number('skipped');
    counts.passed += number('tests') - failed - number('skipped');
    if (failed === 0) continue;
    for (const [, attributes, body] of xml.matchAll(/<testcase\b([^>]*[^/])>([\s\S]*?)<\/testcase>/g)) {
      if (!/<(failure|error)\b/.test(body)) continue;
      const attribute = (name) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '?';
      counts.failures.push(`${attribute('classname')}: ${attribute('name')}`);
    }
  }
  return counts;
}

/** @param {string[]} modules */
export function removeSurefireReports(modules) {
  for (const file of surefireReports(modules)) rmSync(file);
}

function surefireReports(modules) {
  return modules
    .flatMap((module) => ['surefire-reports', 'failsafe-reports'].map((name) => join(module, 'target', name)))
    .filter((directory) => existsSync(directory))
    .flatMap((directory) => readdirSync(directory).map((name) => join(directory, name)))
    .filter((file) => /\/TEST-[^/]*\.xml$/.test(file));
}
