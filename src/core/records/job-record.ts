import { z } from 'zod';
import { canonicalJson, sha256Hex, type Json } from '../canonical-json.js';
import type { JobToken } from '../ids.js';
import { decodeJson, encodeJson } from './codec.js';

export const conflictModes = ['append', 'fail', 'replace'] as const;
export const conflictScopes = ['destination', 'partitions', 'paths'] as const;
/** Besides the client, who keeps them where none of these is said. */
export const taskRecordKeepers = ['store', 'driver'] as const;

export interface JobOptions {
  readonly conflictMode: (typeof conflictModes)[number];
  readonly conflictScope: (typeof conflictScopes)[number];
  /** URIs of directories, with the scope `paths`. */
  readonly conflictPaths: readonly string[];
  /** Files may lie in any root that the caller may use. */
  readonly allowOtherLocations: boolean;
  readonly successMarker: boolean;
  /**
   * `store`: closed files are recorded one by one; without it the committing process holds them. `driver`: commitTask
   * returns the pendingset, and the driver hands all of them over at the commit.
   */
  readonly taskRecords?: (typeof taskRecordKeepers)[number] | undefined;
}

/** job.json: written once by SetupJob, after every lower job attempt is settled. */
export interface JobRecord {
  readonly token: JobToken;
  readonly jobAttempt: number;
  /** URI of the destination, canonical scheme. */
  readonly destination: string;
  /** Tells a replay of SetupJob from another driver's. */
  readonly setupId: string;
  /** Of the arguments of SetupJob: a replay has the same. */
  readonly fingerprint: string;
  readonly principal: string;
  readonly options: JobOptions;
  /** Base64 of the key that signs the handles of this job attempt. */
  readonly hmacKey: string;
  /** The lower job attempt whose commit decision this one took over. */
  readonly adopts?: number | undefined;
  readonly description: string;
  readonly createdAt: string;
}

const format = 'commitbridge/job/1';

const schema = z.object({
  format: z.literal(format),
  token: z.string(),
  jobAttempt: z.int().nonnegative(),
  destination: z.string(),
  setupId: z.string(),
  fingerprint: z.string(),
  principal: z.string(),
  options: z.object({
    conflictMode: z.enum(conflictModes),
    conflictScope: z.enum(conflictScopes),
    conflictPaths: z.array(z.string()),
    allowOtherLocations: z.boolean(),
    successMarker: z.boolean(),
    taskRecords: z.enum(taskRecordKeepers).optional(),
  }),
  hmacKey: z.string(),
  adopts: z.int().nonnegative().optional(),
  description: z.string(),
  createdAt: z.string(),
});

export function encodeJobRecord(record: JobRecord): Uint8Array {
  return encodeJson({ format, ...record, options: { ...record.options } });
}

export function decodeJobRecord(body: Uint8Array, where: string): JobRecord {
  const { format: _, ...record } = decodeJson(schema, body, where);
  return { ...record, token: record.token as JobToken };
}

/** Of what a driver asks for; not of who it is. */
export function setupFingerprint(destination: string, options: JobOptions, description: string): string {
  const fields: Json = { destination, options: { ...options }, description };
  return sha256Hex(canonicalJson(fields));
}
