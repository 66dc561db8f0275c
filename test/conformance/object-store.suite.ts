import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessAndErrors } from './access-and-errors.js';
import { fencedRequests } from './fenced-requests.js';
import type { ConformanceTarget, RunningTarget } from './conformance-target.js';
import { objectCalls } from './object-calls.js';
import { objectListings } from './object-listings.js';
import { suiteContext } from './suite-context.js';
import { uploadCalls } from './upload-calls.js';
import { uploadListings } from './upload-listings.js';

const TEST_TIMEOUT_MS = 60_000;
const START_TIMEOUT_MS = 400_000;

/** Every sentence of the port's contract, as tests; what depends on a capability asks for it. */
export function objectStoreSuite(target: ConformanceTarget): void {
  const { capabilities, knownGaps = {} } = target;
  const names = new Set<string>();

  /** A test, or for a known gap its opposite. */
  function check(name: string, body: () => Promise<void>): void {
    names.add(name);
    const gap = knownGaps[name];
    if (gap === undefined) {
      it(name, body, TEST_TIMEOUT_MS);
      return;
    }
    const isRace = typeof gap !== 'string';
    it(
      `${name} [known gap: ${isRace ? gap.sometimes : gap}]`,
      async () => {
        const failed = await body().then(
          () => false,
          () => true,
        );
        if (!isRace) expect(failed, 'a known gap has closed: take it off the list').toBe(true);
      },
      TEST_TIMEOUT_MS,
    );
  }

  describe(`object store: ${target.name}`, () => {
    let running: RunningTarget;

    beforeAll(async () => {
      running = await target.start();
    }, START_TIMEOUT_MS);

    afterAll(async () => {
      // `running` is missing where the start failed, which has failed the suite already.
      await (running as RunningTarget | undefined)?.store.close();
      await (running as RunningTarget | undefined)?.stop();
    });

    const context = suiteContext(capabilities, check, () => running);
    uploadCalls(context);
    uploadListings(context);
    objectCalls(context);
    objectListings(context);
    accessAndErrors(context);
    fencedRequests(context);

    it('lists known gaps by names of tests', () => {
      expect(Object.keys(knownGaps).filter((name) => !names.has(name))).toEqual([]);
    });
  });
}
