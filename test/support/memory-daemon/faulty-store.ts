import type { ObjectStore, StoreErrorKind } from '../../../src/ports/object-store.js';
import { StoreError } from '../../../src/ports/object-store.js';

/** The methods of the port that send a request. */
export type StoreOp = Exclude<
  keyof ObjectStore,
  'capabilities' | 'presignPart' | 'prepareDelete' | 'sendDelete' | 'close' | 'lifecycle'
>;

export interface StoreCall {
  /** From 1, since the last {@link FaultyStore.watch}. */
  readonly index: number;
  readonly op: StoreOp;
  /** Key of the object, or prefix of a listing. */
  readonly key: string;
}

export type When = 'before' | 'after';

/** What happens to a call instead of passing it on. */
export type Fault =
  | { readonly fail: When; readonly kind?: StoreErrorKind }
  /** Waits there until the promise resolves, then goes on. */
  | { readonly hold: When; readonly until: Promise<unknown> }
  /** As if the process had been killed: nobody hears an answer. */
  | { readonly kill: When };

/** Chooses a fault for a call; `undefined` lets it pass. */
export type Faults = (call: StoreCall) => Fault | undefined;

const ops: readonly StoreOp[] = [
  'initiate',
  'uploadPart',
  'complete',
  'abort',
  'listUploads',
  'listParts',
  'put',
  'sendPut',
  'get',
  'getStream',
  'head',
  'delete',
  'deleteMany',
  'list',
];

/** What a store without conditional deletes is sent in their place: counted as the same. */
const alike: readonly (readonly ['sendDelete', StoreOp])[] = [['sendDelete', 'delete']];

type AnyMethod = (...args: unknown[]) => Promise<unknown>;

/**
 * A store whose calls are numbered and can be made to fail before or after their effect, to wait, or never to
 * answer. `store` goes to the daemon; the test keeps this.
 */
export class FaultyStore {
  readonly store: ObjectStore;
  #calls: StoreCall[] = [];
  #faults: Faults = () => undefined;
  #underWay = 0;
  #waiters: { readonly matches: (call: StoreCall) => boolean; readonly resolve: () => void }[] = [];

  constructor(inner: ObjectStore) {
    const methods = new Map<PropertyKey, AnyMethod>(
      [...ops.map((op) => [op, op] as const), ...alike].map(([name, op]) => [
        name,
        (...args) => this.#around(op, args, (inner[name] as AnyMethod).bind(inner)),
      ]),
    );
    this.store = new Proxy(inner, {
      get(target, name) {
        const value: unknown = methods.get(name) ?? Reflect.get(target, name, target);
        return typeof value === 'function' && !methods.has(name) ? (value.bind(target) as unknown) : value;
      },
    });
  }

  /** Calls since the last {@link watch}. */
  get calls(): readonly StoreCall[] {
    return this.#calls;
  }

  /** Numbers calls from 1 again, under these faults. */
  watch(faults: Faults = () => undefined): void {
    this.#calls = [];
    this.#faults = faults;
  }

  /** Resolves when such a call has come. */
  reached(matches: (call: StoreCall) => boolean): Promise<void> {
    if (this.#calls.some(matches)) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ matches, resolve }));
  }

  /** Until the store has answered all that was sent to it: what a dead daemon had sent has its effect all the same. */
  async quiet(): Promise<void> {
    do await new Promise((resolve) => setTimeout(resolve, 5));
    while (this.#underWay > 0);
  }

  async #around(op: StoreOp, args: readonly unknown[], send: AnyMethod): Promise<unknown> {
    const call: StoreCall = { index: this.#calls.length + 1, op, key: keyOf(args) };
    this.#calls.push(call);
    const fault = this.#faults(call);
    this.#waiters = this.#waiters.filter(({ matches, resolve }) => {
      if (matches(call)) resolve();
      return !matches(call);
    });
    if (fault !== undefined) await strike(fault, 'before');
    this.#underWay += 1;
    const result = await send(...args).finally(() => {
      this.#underWay -= 1;
    });
    if (fault !== undefined) await strike(fault, 'after');
    return result;
  }
}

/** The nth call since {@link FaultyStore.watch} fails; all others pass. */
export function failNth(n: number, when: When, kind: StoreErrorKind = 'unavailable'): Faults {
  return ({ index }) => (index === n ? { fail: when, kind } : undefined);
}

/** The daemon dies at the nth call: that one and all later ones are never answered, nor sent. */
export function killAt(n: number, when: When): Faults {
  return ({ index }) => (index < n ? undefined : { kill: index === n ? when : 'before' });
}

async function strike(fault: Fault, when: When): Promise<void> {
  if ('fail' in fault) {
    if (fault.fail === when) throw new StoreError(fault.kind ?? 'unavailable', `fault ${when} the effect`);
  } else if ('hold' in fault) {
    if (fault.hold === when) await fault.until;
  } else if (fault.kill === when) {
    await new Promise(() => undefined);
  }
}

function keyOf([first, second]: readonly unknown[]): string {
  if (typeof first === 'object' && first !== null) {
    if ('key' in first) return String(first.key);
    if ('object' in first) return keyOf([first.object]);
  }
  return typeof second === 'string' ? second : '';
}
