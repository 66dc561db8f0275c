import {
  InterceptedStore,
  type RequestKind,
  type Send,
  type StoreRequest,
} from '../../src/adapters/decorators/intercepted-store.js';
import { StoreError, type CallOptions, type ObjectStore } from '../../src/ports/object-store.js';
import type { WorldStore } from './world-store.js';

/**
 * The daemon that sends the request dies:
 * - `before`: before the request has an effect;
 * - `after`: after the effect;
 * - `late`: the effect comes after others have begun to recover.
 */
export const killingModes = ['before', 'after', 'late'] as const;

/**
 * The daemon lives:
 * - `lost`: the effect happens, the reply does not come (a reset connection, or an error in the body of a 200 whose
 *   object was made);
 * - `failed`: no effect, a broken connection (or an error in the body of a 200 whose object was not made);
 * - `outage`: from here on the store answers 503 to everybody, for three minutes;
 * - `expired`: the credentials have expired;
 * - `gone`: a Complete has its effect and answers 404, as some servers do to one that overlaps or is repeated;
 * - `conflict`: 409 without an effect;
 * - `slow`: the request takes twenty seconds to arrive;
 * - `paused`: the daemon goes on two minutes after the effect, as a machine that stood still.
 */
export const livingModes = [
  'lost',
  'failed',
  'outage',
  'expired',
  'gone',
  'conflict',
  'slow',
  'paused',
] as const;
/** Of those, what a store of its own can be told to do. */
const storeModes = ['lost', 'failed', 'outage', 'expired', 'gone', 'conflict'] as const;
export const faultModes = [...killingModes, ...livingModes] as const;
export type FaultMode = (typeof faultModes)[number];

export function appliesTo(mode: FaultMode, kind: RequestKind | undefined): boolean {
  if (mode === 'gone') return kind === 'complete';
  if (mode === 'conflict') return kind === 'complete' || kind === 'put' || kind === 'delete';
  return true;
}

export interface Fault {
  /** Counted from 1 over all requests since the fault before. */
  readonly request: number;
  readonly mode: FaultMode;
  /** With `late`: the effect comes after so many further requests; without it, when nothing else is left to do. */
  readonly delayRequests?: number;
}

export function formatFaults(faults: readonly Fault[]): string {
  return faults
    .map(({ request, mode, delayRequests }) =>
      [request, mode, delayRequests ?? ''].join(':').replace(/:$/, ''),
    )
    .join(',');
}

/** @throws Error where it is not what {@link formatFaults} gives. */
export function parseFaults(text: string): Fault[] {
  if (text === '') return [];
  return text.split(',').map((each) => {
    const [request = '', mode = '', delay = ''] = each.split(':');
    const known = faultModes.find((name) => name === mode);
    if (!/^[1-9][0-9]*$/.test(request) || known === undefined) throw new Error(`no fault: ${each}`);
    return {
      request: Number(request),
      mode: known,
      ...(delay === '' ? {} : { delayRequests: Number(delay) }),
    };
  });
}

export const outageMs = 3 * 60_000;
const slowMs = 20_000;
/** Longer than anything waits for requests that may be under way. */
const pausedMs = 120_000;

/** An engine that asks for so much goes round in circles. */
const maxRequests = 20_000;

/** Counts the requests of a world and lets the planned faults happen. */
export class FaultInjector {
  private pending: Fault[];
  private readonly late: { due: number; readonly run: () => Promise<void> }[] = [];
  private outageUntilMs = 0;
  /** Of all requests so far. */
  total = 0;
  /** Since the last fault that happened. */
  counted = 0;
  /** In their order, up to the first fault. */
  readonly kinds: RequestKind[] = [];
  readonly triggered: string[] = [];

  constructor(
    faults: readonly Fault[],
    private readonly nowMs: () => number,
  ) {
    this.pending = [...faults];
  }

  /** The fault of this request, if it is its turn. */
  next(kind: RequestKind): Fault | undefined {
    this.total++;
    this.counted++;
    if (this.triggered.length === 0) this.kinds.push(kind);
    const [fault] = this.pending;
    if (fault?.request !== this.counted || !appliesTo(fault.mode, kind)) return undefined;
    this.pending = this.pending.slice(1);
    this.counted = 0;
    this.triggered.push(`request ${this.total} (${kind}) ${fault.mode}`);
    if (fault.mode === 'outage') this.outageUntilMs = this.nowMs() + outageMs;
    return fault;
  }

  get isOver(): boolean {
    return this.total > maxRequests;
  }

  get isOutage(): boolean {
    return this.nowMs() < this.outageUntilMs;
  }

  /** Where the store was away at some time between the two, when it was back. */
  backAfterOutage(fromMs: number, toMs: number): number {
    const isWithin = this.outageUntilMs > fromMs && this.outageUntilMs - outageMs <= toMs;
    return isWithin ? this.outageUntilMs : fromMs;
  }

  delay(fault: Fault, run: () => Promise<void>): void {
    this.late.push({ due: this.total + (fault.delayRequests ?? Infinity), run });
  }

  async arrivals(): Promise<void> {
    for (const entry of this.late.filter(({ due }) => due <= this.total)) {
      this.late.splice(this.late.indexOf(entry), 1);
      await entry.run();
    }
  }

  async arriveAll(): Promise<void> {
    while (this.late.length > 0) await this.late.shift()?.run();
  }
}

export interface Mortal {
  readonly isDead: boolean;
  die(): void;
}

/** What the network tells the world. */
export interface Observation {
  /** A request has had its effect, or has been refused. */
  effect(kind: RequestKind): void;
  /** An upload was opened; `isKnown` where its id reaches the daemon. */
  opened(uploadId: string, isKnown: boolean): void;
  pass(ms: number): Promise<void>;
}

/** A new one each time: what waits for one that many share is never let go. */
const never = (): Promise<never> => new Promise<never>(() => undefined);

/** The network between one daemon and the store. */
export class FaultyNetwork extends InterceptedStore {
  constructor(
    inner: ObjectStore,
    private readonly injector: FaultInjector,
    private readonly daemon: Mortal,
    private readonly observation: Observation,
    private readonly failAtStore: WorldStore['fail'],
  ) {
    super(inner);
  }

  protected async around<T>(request: StoreRequest, call: CallOptions, send: Send<T>): Promise<T> {
    const { injector, daemon, observation } = this;
    // A promise that never settles: no catch, finally or timer of a dead daemon runs.
    if (daemon.isDead || injector.isOver) return never();
    await injector.arrivals();
    if (daemon.isDead) return never();
    const fault = injector.next(request.kind);
    const effect = async (isHeard: boolean): Promise<T> => {
      try {
        const result = await send(call);
        if (request.kind === 'initiate') observation.opened(String(result), isHeard && !daemon.isDead);
        return result;
      } finally {
        observation.effect(request.kind);
      }
    };
    /** The daemon may have died of another request meanwhile. */
    const answer = async (): Promise<T> => {
      try {
        const result = await effect(fault?.mode !== 'paused');
        if (fault?.mode !== 'paused') return result;
        await observation.pass(pausedMs);
        // Only now does the daemon learn the id.
        if (request.kind === 'initiate' && !daemon.isDead) observation.opened(String(result), true);
        return result;
      } catch (error) {
        if (fault?.mode === 'paused') await observation.pass(pausedMs);
        throw error;
      } finally {
        if (daemon.isDead) await never();
      }
    };
    const mode = fault?.mode ?? (injector.isOutage ? 'outage' : undefined);
    if (this.failAtStore !== undefined) {
      const storeMode = storeModes.find((each) => each === mode);
      if (storeMode !== undefined) return this.failAtStore(storeMode, request.kind, answer);
    }
    switch (fault?.mode) {
      case undefined:
        if (injector.isOutage) throw unavailable();
        return answer();
      case 'paused':
        return answer();
      case 'slow':
        await observation.pass(slowMs);
        return answer();
      case 'before':
        daemon.die();
        return never();
      case 'after':
        await effect(false).catch(() => undefined);
        daemon.die();
        return never();
      case 'late':
        daemon.die();
        injector.delay(fault, async () => {
          await effect(false).catch(() => undefined);
        });
        return never();
      case 'lost':
        await effect(false).catch(() => undefined);
        throw new StoreError('unavailable', 'the connection was reset before the reply');
      case 'failed':
        throw new StoreError('unavailable', 'the connection was refused');
      case 'outage':
        throw unavailable();
      case 'expired':
        throw new StoreError('expired-credentials', 'the token has expired', {
          status: 403,
          code: 'ExpiredToken',
        });
      case 'gone':
        await effect(false).catch(() => undefined);
        throw new StoreError('no-such-upload', 'no such upload', { status: 404, code: 'NoSuchUpload' });
      case 'conflict':
        throw new StoreError('conflict', 'a concurrent write', {
          status: 409,
          code: 'ConditionalRequestConflict',
        });
    }
  }
}

function unavailable(): StoreError {
  return new StoreError('unavailable', 'slow down', { status: 503, code: 'SlowDown' });
}
