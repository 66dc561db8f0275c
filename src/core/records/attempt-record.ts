import { z } from 'zod';
import { canonicalJson, sha256Hex, type Json } from '../canonical-json.js';
import type { JobToken, TaskAttempt, TaskName } from '../ids.js';
import { canonicalScheme, formatUri } from '../uri.js';
import { checkShape, decodeJson, encodeJson } from './codec.js';

/** An upload by its names: enough to abort it, and to prove that an object came from it. */
export interface UploadIdentity {
  /** Canonical; with bucket and key it tells the root, and so the store. */
  readonly scheme: string;
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  readonly commitbridgeId: string;
}

/** A pending file: an upload whose parts are all there. */
export interface PendingFile extends UploadIdentity {
  readonly lengthBytes: number;
  /** Of parts 1 to n. */
  readonly etags: readonly string[];
}

/** A final object of a job, whichever way its bytes go. */
export interface OutputFile {
  readonly scheme: string;
  readonly bucket: string;
  readonly key: string;
  readonly commitbridgeId: string;
  readonly lengthBytes: number;
}

/** A small file whose bytes lie in the record; publication puts it to its final key. */
export interface InlineFile extends OutputFile {
  readonly contentType: string;
  /** Hex, of the content. */
  readonly sha256: string;
  /** Left out where many records are in memory: the record has it. */
  readonly content?: Uint8Array | undefined;
}

/** What commitTask writes: all pending files of one task attempt. */
export interface PendingSet {
  readonly kind: 'pendingset';
  readonly token: JobToken;
  readonly attempt: TaskAttempt;
  /** The configured root that all files lie in. */
  readonly root: string;
  readonly files: readonly PendingFile[];
  readonly inline: readonly InlineFile[];
}

/** What abortTask writes: this attempt is never published, unless a decision lists it already. */
export interface Tombstone {
  readonly kind: 'tombstone';
  readonly token: JobToken;
  readonly attempt: TaskAttempt;
  /** The pendingset that it overwrote, with its upload ids. None: the tombstone came first. */
  readonly replaced?: PendingSet | undefined;
  /** Uploads that the aborting process named. */
  readonly named: readonly UploadIdentity[];
}

export type AttemptRecord = PendingSet | Tombstone;

const pendingSetFormat = 'commitbridge/pendingset/1';
const tombstoneFormat = 'commitbridge/tombstone/1';
/** S3A's own version number, so that its tools read our pendingsets. */
const s3aVersion = 3;

export const attemptSchema = z.object({ task: z.string(), number: z.int().nonnegative(), id: z.string() });
export const identitySchema = z.object({
  scheme: z.string().min(1),
  bucket: z.string().min(1),
  key: z.string().min(1),
  uploadId: z.string().min(1),
  commitbridgeId: z.string().min(1),
});
export const commitSchema = z.object({
  version: z.literal(s3aVersion),
  bucket: z.string().min(1),
  destinationKey: z.string().min(1),
  uri: z.string().min(1),
  uploadId: z.string().min(1),
  length: z.int().nonnegative(),
  etags: z.array(z.object({ etag: z.string().min(1) })).min(1),
  extraData: z.object({ 'commitbridge-id': z.string().min(1) }),
});
const inlineSchema = z.object({
  bucket: z.string().min(1),
  destinationKey: z.string().min(1),
  uri: z.string().min(1),
  contentType: z.string(),
  content: z.base64(),
  extraData: z.object({ 'commitbridge-id': z.string().min(1) }),
});
const pendingSetSchema = z.object({
  format: z.literal(pendingSetFormat),
  version: z.literal(s3aVersion),
  jobId: z.string(),
  root: z.string(),
  attempt: attemptSchema,
  commits: z.array(commitSchema),
  inline: z.array(inlineSchema).optional(),
});
const tombstoneSchema = z.object({
  format: z.literal(tombstoneFormat),
  jobId: z.string(),
  attempt: attemptSchema,
  named: z.array(identitySchema),
  replaced: pendingSetSchema.optional(),
});
const recordSchema = z.discriminatedUnion('format', [pendingSetSchema, tombstoneSchema]);

export function encodeAttemptRecord(record: AttemptRecord): Uint8Array {
  return encodeJson(record.kind === 'pendingset' ? pendingSetJson(record) : tombstoneJson(record));
}

export function decodeAttemptRecord(body: Uint8Array, where: string): AttemptRecord {
  const json = decodeJson(recordSchema, body, where);
  return json.format === pendingSetFormat
    ? pendingSetOf(json)
    : {
        kind: 'tombstone',
        token: json.jobId as JobToken,
        attempt: attemptOf(json.attempt),
        replaced: json.replaced === undefined ? undefined : pendingSetOf(json.replaced),
        named: json.named,
      };
}

/** The pendingset that a record holds, whichever form it has. */
export function pendingSetIn(record: AttemptRecord): PendingSet | undefined {
  return record.kind === 'pendingset' ? record : record.replaced;
}

/** All uploads that a record knows of. */
export function uploadsIn(record: AttemptRecord): readonly UploadIdentity[] {
  if (record.kind === 'pendingset') return record.files;
  return [...(record.replaced?.files ?? []), ...record.named];
}

/** Of what the pendingset says; the same before and after a tombstone took it in. */
export function pendingSetDigest(set: PendingSet): string {
  const inline = set.inline.map(({ sha256, lengthBytes, ...file }) => ({
    ...inlineJson(file),
    sha256,
    lengthBytes,
  }));
  const json = pendingSetJson({ ...set, inline: [] });
  return sha256Hex(canonicalJson(inline.length === 0 ? json : { ...json, inline }));
}

export function decodePendingSet(json: unknown, where: string): PendingSet {
  return pendingSetOf(checkShape(pendingSetSchema, json, where));
}

function pendingSetJson(set: PendingSet): Record<string, Json | undefined> {
  const { id, number, task } = set.attempt;
  // In the order of canonicalJson, which is quick then; so is commitJson.
  return {
    attempt: { id, number, task },
    commits: set.files.map(commitJson),
    format: pendingSetFormat,
    inline:
      set.inline.length === 0
        ? undefined
        : set.inline.map((file) => ({ ...inlineJson(file), content: base64Of(file) })),
    jobId: set.token,
    root: set.root,
    version: s3aVersion,
  };
}

/** As S3A's tools read it. */
export function commitJson(file: PendingFile): Record<string, Json> {
  return {
    bucket: file.bucket,
    destinationKey: file.key,
    etags: file.etags.map((etag) => ({ etag })),
    extraData: { 'commitbridge-id': file.commitbridgeId },
    length: file.lengthBytes,
    uploadId: file.uploadId,
    uri: uriOf(file),
    version: s3aVersion,
  };
}

export function pendingFileOf(commit: z.infer<typeof commitSchema>): PendingFile {
  return {
    scheme: schemeOf(commit.uri),
    bucket: commit.bucket,
    key: commit.destinationKey,
    uploadId: commit.uploadId,
    commitbridgeId: commit.extraData['commitbridge-id'],
    lengthBytes: commit.length,
    etags: commit.etags.map(({ etag }) => etag),
  };
}

function inlineJson(file: Omit<InlineFile, 'sha256' | 'lengthBytes'>): Record<string, Json> {
  return {
    bucket: file.bucket,
    destinationKey: file.key,
    uri: uriOf(file),
    contentType: file.contentType,
    extraData: { 'commitbridge-id': file.commitbridgeId },
  };
}

/** @throws Error where the content was left out: such a set is never written. */
function base64Of({ key, content }: InlineFile): string {
  if (content === undefined) throw new Error(`the content of ${key} is not in memory`);
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64');
}

function pendingSetOf(json: z.infer<typeof pendingSetSchema>): PendingSet {
  return {
    kind: 'pendingset',
    token: json.jobId as JobToken,
    attempt: attemptOf(json.attempt),
    root: json.root,
    files: json.commits.map(pendingFileOf),
    inline: (json.inline ?? []).map((file) => {
      const content = Buffer.from(file.content, 'base64');
      return {
        scheme: schemeOf(file.uri),
        bucket: file.bucket,
        key: file.destinationKey,
        commitbridgeId: file.extraData['commitbridge-id'],
        lengthBytes: content.length,
        contentType: file.contentType,
        sha256: sha256Hex(content),
        content,
      };
    }),
  };
}

function tombstoneJson(tombstone: Tombstone): Json {
  return {
    format: tombstoneFormat,
    jobId: tombstone.token,
    attempt: { ...tombstone.attempt },
    named: tombstone.named.map(identityJson),
    replaced: tombstone.replaced === undefined ? undefined : pendingSetJson(tombstone.replaced),
  };
}

function schemeOf(uri: string): string {
  return canonicalScheme(uri.split(':', 1)[0] ?? '');
}

/** S3A's tools read `s3a`. */
export function uriOf(file: {
  readonly scheme: string;
  readonly bucket: string;
  readonly key: string;
}): string {
  return formatUri({ ...file, scheme: file.scheme === 's3' ? 's3a' : file.scheme });
}

export function identityJson({ scheme, bucket, key, uploadId, commitbridgeId }: UploadIdentity): Json {
  return { scheme, bucket, key, uploadId, commitbridgeId };
}

function attemptOf(json: z.infer<typeof attemptSchema>): TaskAttempt {
  return { task: json.task as TaskName, number: json.number, id: json.id };
}
