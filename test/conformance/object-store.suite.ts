import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessAndErrors } from './access-and-errors.js';
import { expiredRequests } from './expired-requests.js';
import { fencedRequests } from './fenced-requests.js';
import type { ConformanceTarget, RunningTarget } from './conformance-target.js';
import { objectCalls } from './object-calls.js';
import { objectListings } from './object-listings.js';
import { suiteContext, type Check } from './suite-context.js';
import { uploadCalls } from './upload-calls.js';
import { uploadListings } from './upload-listings.js';

const TEST_TIMEOUT_MS = 60_000;
const START_TIMEOUT_MS = 400_000;

/** Every sentence of the port's contract, as tests; what depends on a capability asks for it. */
export function objectStoreSuite(target: ConformanceTarget): void {
  const { capabilities, knownGaps = {} } = target;
  const names = new Set<string>();

  /** A test, or for a known gap its opposite. */
  const check: Check = (name, body, { concurrent } = { concurrent: false }) => {
    names.add(name);
    const options = { concurrent, timeout: TEST_TIMEOUT_MS };
    const gap = knownGaps[name];
    if (gap === undefined) {
      it(name, options, body);
      return;
    }
    const isRace = typeof gap !== 'string';
    it(`${name} [known gap: ${isRace ? gap.sometimes : gap}]`, options, async () => {
      const failed = await body().then(
        () => false,
        () => true,
      );
      if (!isRace) expect(failed, 'a known gap has closed: take it off the list').toBe(true);
    });
  };

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
    expiredRequests(context);

    it('lists known gaps by names of tests', () => {
      expect(Object.keys(knownGaps).filter((name) => !names.has(name))).toEqual([]);
    });
  });
}
