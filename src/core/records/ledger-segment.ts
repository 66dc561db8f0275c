import { z } from 'zod';
import { identityJson, identitySchema, type UploadIdentity } from './attempt-record.js';
import { decodeJson, encodeJson } from './codec.js';

const format = 'commitbridge/ledger/1';

const schema = z.object({ format: z.literal(format), uploads: z.array(identitySchema) });

/** opened/START-SEQ: uploads that a daemon opened since its last segment and that no record holds yet. */
export function encodeLedgerSegment(uploads: readonly UploadIdentity[]): Uint8Array {
  return encodeJson({ format, uploads: uploads.map(identityJson) });
}

export function decodeLedgerSegment(body: Uint8Array, where: string): readonly UploadIdentity[] {
  return decodeJson(schema, body, where).uploads;
}
