export { DaemonClient, type CommitTaskStream } from './client.js';
export {
  FaultyStore,
  failNth,
  killAt,
  type Fault,
  type Faults,
  type StoreCall,
  type StoreOp,
  type When,
} from './faulty-store.js';
export {
  bucket,
  closeAllDaemons,
  isOnOss,
  newMemoryStore,
  smallParts,
  staging,
  startMemoryDaemon,
  type LogEvent,
  type MemoryDaemon,
  type MemoryDaemonOptions,
} from './memory-daemon.js';
export { RpcError } from './rpc-error.js';
export { expectError } from './expect-error.js';
export { newDestination, TestAttempt, TestJob, type TestJobOptions } from './test-job.js';
export type * as wire from './wire.js';
