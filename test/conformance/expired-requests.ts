import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { bytes, expectKind } from './expectations.js';
import type { SuiteContext } from './suite-context.js';

/** Signed for a second: these tests only wait, so that they do it together. */
export function expiredRequests(t: SuiteContext): void {
  const { capabilities, place, open, textOf } = t;
  if (!capabilities.presign) return;

  describe('signed, and sent too late', () => {
    const together = (name: string, body: () => Promise<void>): void =>
      t.check(name, body, { concurrent: true });

    together('presignPart: 403 when the time is over', async () => {
      const upload = await open(place()('a'));
      const { url, headers, expiresAtMs } = await t.store.presignPart(upload, 1, 1);
      expect(expiresAtMs).toBeLessThanOrEqual(Date.now() + 1_000);
      await delay(2_500);
      expect((await t.running.putSigned(url, headers, bytes('x'))).status).toBe(403);
    });

    together('sendPut: access-denied once it has expired, and nothing is written', async () => {
      const object = place()('a');
      const prepared = await t.store.preparePut(object, {}, 1);
      await delay(2_500);
      await expectKind(t.store.sendPut(prepared, bytes('late')), 'access-denied');
      expect(await t.store.head(object)).toBeUndefined();
    });

    together('sendDelete: access-denied once it has expired, and the object stays', async () => {
      const object = place()('a');
      await t.store.put(object, bytes('old'), {});
      const prepared = await t.store.prepareDelete(object, 1);
      await delay(2_500);
      await expectKind(t.store.sendDelete(prepared), 'access-denied');
      await expect(textOf(object)).resolves.toBe('old');
    });
  });
}
