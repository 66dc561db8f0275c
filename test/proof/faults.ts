import {
  InterceptedStore,
  type Send,
  type StoreRequest,
} from '../../src/adapters/decorators/intercepted-store.js';
import { StoreError, type CallOptions, type ObjectStore } from '../../src/ports/object-store.js';

/**
 * What happens to a store request:
 * - `before`: its daemon dies before the request has an effect;
 * - `after`: its daemon dies after the effect;
 * - `late`: its daemon dies, and the effect comes after others have begun to recover;
 * - `lost`: the effect happens, the reply does not come: the daemon lives and sees a connection that broke;
 * - `failed`: the request fails without an effect, and the daemon lives.
 */
export const faultModes = ['before', 'after', 'late', 'lost', 'failed'] as const;
export type FaultMode = (typeof faultModes)[number];

export interface Fault {
  /** Counted from 1 over all requests since the fault before. */
  readonly request: number;
  readonly mode: FaultMode;
  /** With `late`: the effect comes after so many further requests, or when nothing else is left to do. */
  readonly delayRequests?: number;
}

/** Counts the requests of a world and lets the planned faults happen. */
export class FaultInjector {
  private counted = 0;
  private pending: Fault[];
  private readonly late: { due: number; readonly run: () => Promise<void> }[] = [];
  /** Of all requests so far. */
  total = 0;
  readonly triggered: string[] = [];

  constructor(faults: readonly Fault[]) {
    this.pending = [...faults];
  }

  /** The fault of this request, if it is its turn. */
  next(describe: () => string): Fault | undefined {
    this.total++;
    this.counted++;
    const [fault] = this.pending;
    if (fault?.request !== this.counted) return undefined;
    this.pending = this.pending.slice(1);
    this.counted = 0;
    this.triggered.push(`request ${this.total} (${describe()}) ${fault.mode}`);
    return fault;
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

const never = new Promise<never>(() => undefined);

/** The network between one daemon and the store. */
export class FaultyNetwork extends InterceptedStore {
  constructor(
    inner: ObjectStore,
    private readonly injector: FaultInjector,
    private readonly daemon: Mortal,
    private readonly afterEffect: (kind: string) => void,
  ) {
    super(inner);
  }

  protected async around<T>(request: StoreRequest, call: CallOptions, send: Send<T>): Promise<T> {
    // A promise that never settles: no catch, finally or timer of a dead daemon runs.
    if (this.daemon.isDead) return never;
    await this.injector.arrivals();
    if (this.daemon.isDead) return never;
    const fault = this.injector.next(() => request.kind);
    const effect = async (): Promise<T> => {
      try {
        return await send(call);
      } finally {
        this.afterEffect(request.kind);
      }
    };
    switch (fault?.mode) {
      case undefined: {
        try {
          const result = await effect();
          return this.daemon.isDead ? await never : result;
        } catch (error) {
          return this.daemon.isDead ? await never : Promise.reject(error as Error);
        }
      }
      case 'before':
        this.daemon.die();
        return never;
      case 'after':
        await effect().catch(() => undefined);
        this.daemon.die();
        return never;
      case 'late':
        this.daemon.die();
        this.injector.delay(fault, async () => {
          await effect().catch(() => undefined);
        });
        return never;
      case 'lost':
        await effect().catch(() => undefined);
        throw new StoreError('unavailable', 'the connection was reset before the reply');
      case 'failed':
        throw new StoreError('unavailable', 'the connection was refused');
    }
  }
}
