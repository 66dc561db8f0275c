import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { driverKilled } from './driver-killed.js';
import { executors } from './executors.js';
import { overwrites } from './overwrites.js';
import { Stage } from './stage.js';
import { fewVersions, versions } from './versions.js';
import { writes } from './writes.js';

// Each version is one application: what it costs is to start it.
describe.each(versions())('stock Spark %s', { timeout: 600_000 }, (name, version) => {
  let running: Stage;
  const stage = (): Stage => running;
  beforeAll(async () => {
    running = await Stage.start(version);
  }, 600_000);
  afterAll(async () => {
    await running.stop();
  });

  writes(stage);
  overwrites(stage);
  const isOneOfFew = fewVersions().some(([few]) => few === name);
  if (isOneOfFew) executors(stage);

  it('at the end no JVM knows an attempt, and no upload, record or temporary file is left', async () => {
    const { registries = [] } = await running.run({ do: 'registry' });
    expect(registries).toEqual(Array.from({ length: 9 }, () => 0));
    await running.expectNothingLeft();
  });

  if (isOneOfFew) driverKilled(stage);
});
