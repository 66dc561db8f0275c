import { defineConfig } from 'vitest/config';

const second = 1_000;

/** Of tests that say that they may run beside each other: jobs on one cluster, each of several JVMs. */
const maxConcurrency = 3;

function project(name: string, include: string[], timeoutMs: number) {
  return {
    test: {
      name,
      include,
      testTimeout: timeoutMs,
      hookTimeout: Math.max(timeoutMs, 60 * second),
      maxConcurrency,
    },
  };
}

/**
 * Those of the protocol suites that are run on OSS too: docs/compatibility.md says why not the others. The last three
 * stop at each request in turn, which takes minutes: `npm run test:all` runs them.
 */
const onOss = [
  ...['lifecycle', 'publication', 'inline', 'task-attempts', 'job-attempts', 'zombies', 'closed-files'],
  ...['carried-pendingsets', 'unreadable-records', 'bugs-of-others'],
  ...['gc-abandoned', 'gc-by-hand', 'gc-ended', 'gc-prefix'],
  ...(process.env['COMMITBRIDGE_TEST_ALL'] === '1' ? ['concurrency', 'store-faults', 'gc-running'] : []),
];

export default defineConfig({
  test: {
    environment: 'node',
    projects: [
      project(
        'unit',
        ['test/unit/**/*.test.ts', 'test/golden/**/*.test.ts', 'test/proof/**/*.test.ts'],
        10 * second,
      ),
      project('conformance', ['test/conformance/**/*.test.ts'], 60 * second),
      project('protocol', ['test/protocol/**/*.test.ts'], 60 * second),
      project('cost', ['test/cost/**/*.test.ts'], 60 * second),
      project('e2e', ['test/e2e/**/*.test.ts'], 120 * second),
      project('oss', ['test/oss/**/*.test.ts'], 120 * second),
      // Only against a bucket that the environment names: `npm run test:oss-real`.
      ...(process.env['COMMITBRIDGE_TEST_OSS_REAL'] === '1'
        ? [project('oss-real', ['test/oss-real/**/*.test.ts'], 300 * second)]
        : []),
      // The protocol again, on the adapter of OSS and a double of it.
      {
        test: {
          ...project(
            'oss-protocol',
            onOss.map((name) => `test/protocol/${name}.test.ts`),
            120 * second,
          ).test,
          env: { COMMITBRIDGE_TEST_STORE: 'oss' },
        },
      },
      project('observer', ['test/support/**/*.test.ts'], 60 * second),
    ],
  },
});
