import { isCommitterError } from '../../src/core/errors.js';
import type { JobOptions } from '../../src/core/records/job-record.js';
import type { Choices } from './choices.js';
import { contentOf, type Driver, type TaskAttempt } from './driver.js';
import type { Stage } from './stage.js';

type Status = 'none' | 'open' | 'adopts' | 'superseded' | 'aborted' | 'committed';
/** `ok`, what AbortJob said, or the reason of the refusal. */
type Answer = string;

interface TaskRecord {
  readonly attempt: TaskAttempt;
  kind: 'pendingset' | 'tombstone';
}

class AttemptModel {
  status: Status = 'none';
  wasSetUp = false;
  /** It took over a commit decision, which counts for it whatever becomes of its own number. */
  hasAdopted = false;
  driver: Driver | undefined;
  readonly records = new Map<string, TaskRecord>();
  /** Once it is committed. */
  winners: readonly TaskAttempt[] = [];
}

class JobModel {
  readonly attempts: AttemptModel[] = [new AttemptModel(), new AttemptModel(), new AttemptModel()];
  nextNumber = 0;

  constructor(
    readonly token: string,
    readonly destination: string,
    readonly options: Partial<JobOptions>,
  ) {}

  at(number: number): AttemptModel {
    const found = this.attempts[number];
    if (found === undefined) throw new RangeError(String(number));
    return found;
  }

  committed(): AttemptModel | undefined {
    return this.attempts.find(({ status }) => status === 'committed');
  }
}

const modes = ['append', 'append', 'fail', 'replace'] as const;

/** One history: calls over one to three jobs and daemons, and what each may answer and must leave visible. */
export class History {
  private readonly jobs: JobModel[] = [];
  private isReckless = false;
  /** Content by key. */
  private readonly visible = new Map<string, string>();

  constructor(
    private readonly stage: Stage,
    private readonly random: Choices,
  ) {}

  async play(): Promise<void> {
    const { random, stage } = this;
    // The simplest one is sequential.
    const isConcurrent = random.below(3) === 2;
    this.isReckless = isConcurrent;
    stage.daemons(1 + random.below(3));
    const sharesDestination = !isConcurrent && random.below(2) === 0;
    for (let index = 1 + random.below(3); index > 0; index--) {
      const conflictMode = modes[random.below(modes.length)] ?? 'append';
      const destination = sharesDestination ? 'out' : `out-${index}`;
      this.jobs.push(new JobModel(`job-${index}`, destination, { conflictMode }));
    }
    for (let steps = 6 + random.below(14); steps > 0; steps--) {
      if (isConcurrent && random.below(3) === 0) {
        await Promise.all(Array.from({ length: 2 + random.below(2) }, () => this.step(false)));
      } else {
        await this.step(!isConcurrent);
        if (!isConcurrent) this.compare();
      }
    }
  }

  private pick<T>(items: readonly T[]): T | undefined {
    return items[this.random.below(items.length)];
  }

  private async step(isModelled: boolean): Promise<void> {
    const { random } = this;
    const job = this.pick(this.jobs);
    if (job === undefined) return;
    const number = random.below(random.below(3) === 0 ? 3 : 2);
    const model = job.at(number);
    const expect = (call: string, answer: Answer, ...allowed: readonly Answer[]): void => {
      if (isModelled && !allowed.includes(answer)) {
        this.stage.checks.violate(
          `model: ${call} of ${job.token}, job attempt ${number} (${model.status}), answered ${answer}, not ${allowed.join(' or ')}`,
        );
      }
    };
    const dice = random.below(20);
    if (model.driver === undefined || dice === 0) {
      await this.setUp(job, number, dice === 0 && random.below(2) === 0, expect);
    } else if (dice <= 8) {
      await this.runTask(job, model, expect);
    } else if (dice <= 10) {
      await this.replayTask(model, expect);
    } else if (dice <= 12) {
      await this.abortTask(model, expect);
    } else if (dice <= 14) {
      await this.commitJob(job, model, expect);
    } else if (dice === 15) {
      await this.abortJob(job, number, model, expect);
    } else if (dice === 16) {
      await this.recover(job, number, model, expect);
    } else if (dice === 17) {
      await this.stage.world.pass(random.below(3_000));
    } else if (dice === 18 && random.below(3) === 0) {
      await this.collect();
    } else {
      await this.setUp(job, number, false, expect);
    }
  }

  /** The operator calls everything abandoned. */
  private async collect(): Promise<void> {
    const { stage } = this;
    const startedMs = stage.world.time.nowMs;
    await stage.collect();
    for (const job of this.jobs) {
      const facts = stage.checks.factsOfSync(job.token);
      for (const [number, attempt] of job.attempts.entries()) {
        // Before its first call nothing of it is there.
        if (attempt.status !== 'open') continue;
        if (facts[number]?.decision === 'abort') attempt.status = 'aborted';
        else if (!stage.checks.hasChangedSince(job.token, startedMs))
          stage.checks.violate(`model: gc left ${job.token}, job attempt ${number} open`);
      }
    }
  }

  private async setUp(job: JobModel, number: number, isStranger: boolean, expect: Expect): Promise<void> {
    const model = job.at(number);
    const { token, destination, options } = job;
    const daemon = this.random.below(3);
    const { isReckless } = this;
    const driver =
      model.driver === undefined || isStranger
        ? this.stage.driver({ token, destination, options, jobAttempt: number, daemon, isReckless })
        : model.driver;
    const answer = (await driver.trySetup())?.reason ?? 'ok';
    const isFirst = model.driver === undefined;
    model.driver ??= driver;
    switch (model.status) {
      case 'superseded': {
        expect('SetupJob', answer, 'JOB_SUPERSEDED');
        return;
      }
      case 'aborted': {
        expect('SetupJob', answer, 'JOB_ABORTED');
        return;
      }
      case 'committed': {
        expect('SetupJob', answer, 'JOB_COMMITTED');
        return;
      }
      case 'open':
      case 'adopts': {
        expect('SetupJob', answer, driver === model.driver && !isFirst ? 'ok' : 'JOB_EXISTS');
        return;
      }
      case 'none': {
        expect('SetupJob', answer, 'ok');
        if (answer !== 'ok') return;
        model.wasSetUp = true;
        const lower = job.attempts.slice(0, number);
        model.hasAdopted = lower.some(({ status }) => status === 'committed');
        model.status = model.hasAdopted ? 'adopts' : 'open';
        for (const each of lower) {
          if (each.status === 'none' || each.status === 'open' || each.status === 'adopts')
            each.status = 'superseded';
        }
      }
    }
  }

  private async runTask(job: JobModel, model: AttemptModel, expect: Expect): Promise<void> {
    const { driver } = model;
    if (driver === undefined || !model.wasSetUp) return;
    const deciding = job.committed();
    const task = this.random.below(3);
    const isKnown = deciding?.winners.some((winner) => winner.task.endsWith(String(task))) === true;
    // An attempt that adopted reruns only what its predecessor had.
    if (model.status === 'adopts' && !isKnown) return;
    const attempt = driver.attempt(task, job.nextNumber++, this.random.below(3));
    const shared = this.random.below(2) === 0;
    for (let files = this.random.below(3); files > 0; files--) {
      const name = shared ? `part-${task}-${files}` : `part-${job.token}-${task}-${attempt.number}-${files}`;
      // Refused once the daemon knows of the end.
      if (!(await attempt.write(name))) return;
    }
    if (this.random.below(5) === 0) return;
    await this.commitTask(model, attempt, expect);
  }

  private async commitTask(model: AttemptModel, attempt: TaskAttempt, expect: Expect): Promise<void> {
    const name = attempt.ref.attemptId;
    const record = model.records.get(name);
    const answer = (await attempt.commit()) ? 'ok' : (attempt.refused?.reason ?? '?');
    const ifBuried = record?.kind === 'tombstone' ? ['ATTEMPT_ABORTED'] : [];
    switch (model.status) {
      case 'open':
      case 'adopts':
        if (record?.kind === 'tombstone') {
          // Those of an attempt that adopted are cleared by its first CommitJob.
          expect('CommitTask', answer, 'ATTEMPT_ABORTED', ...(model.status === 'adopts' ? ['ok'] : []));
          return;
        }
        if (answer === 'ok') model.records.set(name, { attempt, kind: 'pendingset' });
        {
          expect('CommitTask', answer, 'ok');
          return;
        }
      case 'superseded': {
        expect('CommitTask', answer, 'JOB_SUPERSEDED', ...ifBuried);
        return;
      }
      case 'aborted': {
        expect('CommitTask', answer, 'JOB_ABORTED', ...ifBuried);
        return;
      }
      case 'committed':
        if (model.winners.includes(attempt)) {
          expect('CommitTask', answer, 'ok', ...ifBuried);
          return;
        }
        {
          expect('CommitTask', answer, 'JOB_COMMITTED', ...ifBuried);
          return;
        }
      case 'none': {
        expect('CommitTask', answer, 'JOB_NOT_FOUND');
        return;
      }
    }
  }

  private async replayTask(model: AttemptModel, expect: Expect): Promise<void> {
    const record = this.pick(ownRecords(model));
    if (record !== undefined) await this.commitTask(model, record.attempt, expect);
  }

  private async abortTask(model: AttemptModel, expect: Expect): Promise<void> {
    const record = this.pick(ownRecords(model));
    if (record === undefined) return;
    // The framework never aborts what it counts once it has called commitJob.
    const answer = await record.attempt.abort(this.random.below(2) === 0).then(
      () => 'ok',
      (error: unknown) => (isCommitterError(error) ? error.reason : String(error)),
    );
    expect('AbortTask', answer, 'ok');
    record.kind = 'tombstone';
  }

  private async commitJob(job: JobModel, model: AttemptModel, expect: Expect): Promise<void> {
    const { driver } = model;
    if (driver === undefined) return;
    driver.told = undefined;
    driver.failure = undefined;
    await driver.commit();
    const answer = driver.failure === undefined ? 'ok' : reasonOf(driver);
    switch (model.status) {
      case 'open':
        if (answer === 'DESTINATION_EXISTS' && job.options.conflictMode === 'fail') {
          expect('CommitJob', answer, this.holdsData(job) ? answer : 'ok');
          model.status = 'aborted';
          return;
        }
        expect(
          'CommitJob',
          answer,
          job.options.conflictMode === 'fail' && this.holdsData(job) ? 'DESTINATION_EXISTS' : 'ok',
        );
        if (answer === 'ok') this.publish(job, model);
        return;
      case 'adopts':
      case 'committed': {
        expect('CommitJob', answer, 'ok');
        return;
      }
      case 'aborted': {
        expect('CommitJob', answer, model.wasSetUp ? 'JOB_ABORTED' : 'JOB_NOT_FOUND');
        return;
      }
      case 'superseded': {
        const refusal = model.wasSetUp ? 'JOB_SUPERSEDED' : 'JOB_NOT_FOUND';
        expect('CommitJob', answer, model.hasAdopted ? 'ok' : refusal);
        return;
      }
      case 'none': {
        expect('CommitJob', answer, 'JOB_NOT_FOUND');
        return;
      }
    }
  }

  private async abortJob(job: JobModel, number: number, model: AttemptModel, expect: Expect): Promise<void> {
    const { driver } = model;
    if (driver === undefined) return;
    driver.told = undefined;
    driver.failure = undefined;
    const published = await driver.abort();
    const answer = published === undefined ? reasonOf(driver) : published ? 'published' : 'not published';
    switch (model.status) {
      case 'committed':
      case 'adopts': {
        expect('AbortJob', answer, 'published');
        return;
      }
      case 'superseded': {
        expect('AbortJob', answer, 'JOB_SUPERSEDED');
        return;
      }
      case 'none':
      case 'open':
      case 'aborted': {
        expect('AbortJob', answer, 'not published');
        for (const each of job.attempts.slice(0, number + 1)) {
          if (each.status === 'none' || each.status === 'open') each.status = 'aborted';
        }
      }
    }
  }

  private async recover(job: JobModel, number: number, model: AttemptModel, expect: Expect): Promise<void> {
    const { driver } = model;
    const before = job.attempts[number - 1];
    if (driver === undefined || before === undefined) return;
    const record = this.pick([...before.records.values()]);
    if (record === undefined || (model.status !== 'open' && model.status !== 'adopts')) return;
    const answer = await driver.recover(record.attempt).then(
      () => 'ok',
      (error: unknown) => (isCommitterError(error) ? error.reason : String(error)),
    );
    const name = record.attempt.ref.attemptId;
    if (model.status === 'adopts') {
      const isListed = job.committed()?.winners.includes(record.attempt) === true;
      expect('RecoverTask', answer, isListed ? 'ok' : 'ATTEMPT_NOT_FOUND');
      return;
    }
    const isThere = before.wasSetUp && before.status === 'superseded' && record.kind === 'pendingset';
    const existing = model.records.get(name);
    if (!isThere) {
      expect('RecoverTask', answer, 'ATTEMPT_NOT_FOUND');
      return;
    }
    if (existing !== undefined) {
      expect('RecoverTask', answer, existing.kind === 'pendingset' ? 'ok' : 'ATTEMPT_NOT_FOUND');
      return;
    }
    expect('RecoverTask', answer, 'ok');
    if (answer === 'ok') {
      model.records.set(name, { attempt: record.attempt, kind: 'pendingset' });
      driver.count(record.attempt);
    }
  }

  private holdsData({ destination }: JobModel): boolean {
    return [...this.visible.keys()].some((key) => key.startsWith(`${destination}/`));
  }

  private publish(job: JobModel, model: AttemptModel): void {
    model.status = 'committed';
    const best = new Map<string, TaskAttempt>();
    for (const { attempt, kind } of model.records.values()) {
      const known = best.get(attempt.task);
      if (kind === 'pendingset' && (known === undefined || attempt.number > known.number))
        best.set(attempt.task, attempt);
    }
    model.winners = [...best.values()];
    const files = model.winners.flatMap(({ task, number, names }) =>
      names.map((name): [string, string] => [
        `${job.destination}/${name}`,
        contentOf(job.token, task, number, name),
      ]),
    );
    if (job.options.conflictMode === 'replace') {
      const own = new Set(files.map(([key]) => key));
      for (const key of [...this.visible.keys()]) {
        if (key.startsWith(`${job.destination}/`) && !own.has(key)) {
          this.visible.delete(key);
          this.stage.checks.lostToOthers.add(key);
        }
      }
    }
    for (const [key, content] of files) this.visible.set(key, content);
  }

  private compare(): void {
    const found = new Map(
      this.stage.checks
        .published()
        .map(({ key, token, task, number, name }) => [key, contentOf(token, task, number, name)]),
    );
    for (const [key, content] of this.visible)
      if (found.get(key) !== content)
        this.stage.checks.violate(`model: ${key} is ${found.get(key) ?? 'missing'}, not ${content}`);
    for (const [key, content] of found)
      if (!this.visible.has(key)) this.stage.checks.violate(`model: ${key} is visible: ${content}`);
  }
}

/** A recovered attempt's process belongs to the job attempt that it ran in, and calls as that. */
function ownRecords({ records, driver }: AttemptModel): TaskRecord[] {
  return [...records.values()].filter(({ attempt }) => driver !== undefined && attempt.isOf(driver));
}

type Expect = (call: string, answer: Answer, ...allowed: readonly Answer[]) => void;

/** Cleared by the caller just before: no analysis of the flow sees that the call sets it. */
function reasonOf(driver: Driver): string {
  return driver.failure?.reason ?? '?';
}
