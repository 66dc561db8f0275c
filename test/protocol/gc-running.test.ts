import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GcReport } from '../../src/app/gc.js';
import { GcScene } from '../support/gc-scene.js';
import { closeAllDaemons, type TestJob } from '../support/memory-daemon/index.js';

let scene: GcScene;
beforeEach(async () => {
  scene = await GcScene.start();
});
afterEach(closeAllDaemons);

describe('gc beside a running job', () => {
  it('between any two of its requests, with every age forced, leaves all of its files or none', async () => {
    for (let k = 1, isOver = false; !isOver; k++) {
      const job = scene.newJob();
      let ran: Promise<unknown> | undefined;
      scene.daemon.faults.watch(({ index }) => {
        if (index !== k) return undefined;
        ran = scene.gc({ olderThanMs: -1 });
        return { hold: 'before', until: ran };
      });
      const result = await runJob(job);
      isOver = ran === undefined;
      await ran;
      await scene.daemon.idle();
      expect(job.visible(), `gc before request ${k}`).toEqual(
        result === 'committed' ? { a: 'a', b: 'b' } : {},
      );
      await scene.gc({ olderThanMs: -1 });
      expect(job.visible(), `gc before request ${k}`).toEqual(
        result === 'committed' ? { a: 'a', b: 'b' } : {},
      );
      expect(job.recordsLeft()).toEqual([]);
      // What was opened after the job was ended is in the ledger of a daemon that runs.
      await scene.daemon.close();
      await scene.gc({ olderThanMs: -1 });
      expect(job.openUploads(), `gc before request ${k}`).toEqual([]);
      scene.daemon = await scene.startDaemon();
    }
  });

  it('does nothing to it while it is young', async () => {
    for (let k = 1, isOver = false; !isOver; k++) {
      const job = scene.newJob();
      let ran: Promise<GcReport> | undefined;
      scene.daemon.faults.watch(({ index }) => {
        if (index !== k) return undefined;
        ran = scene.gc();
        return { hold: 'before', until: ran };
      });
      expect(await runJob(job), `gc before request ${k}`).toBe('committed');
      isOver = ran === undefined;
      expect(job.visible()).toEqual({ a: 'a', b: 'b' });
      await scene.daemon.idle();
      expect(job.recordsLeft()).toEqual([]);
    }
  });

  async function runJob(job: TestJob): Promise<'committed' | 'failed'> {
    try {
      await job.setup();
      await job.runTask(0, { a: 'a' });
      await job.runTask(1, { b: 'b' });
      await job.commit();
      return 'committed';
    } catch {
      return 'failed';
    }
  }
});
