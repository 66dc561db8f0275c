import type { FileRef } from '../app/file-ref.js';
import type { SignedPart } from '../app/sign-parts.js';
import type { PendingFile } from './generated/commitbridge/v1/PendingFile.js';
import type { SignedPart as WireSignedPart } from './generated/commitbridge/v1/SignedPart.js';

/** From what the use cases return to the wire. */
export function pendingFile(file: FileRef): PendingFile {
  return { ...file, handle: Buffer.from(file.handle) };
}

export function signedPart({ partNumber, url, headers, sizeBytes, expiresAtMs }: SignedPart): WireSignedPart {
  return {
    partNumber,
    url,
    headers: { ...headers },
    sizeBytes,
    expireTime: { seconds: Math.floor(expiresAtMs / 1_000), nanos: (expiresAtMs % 1_000) * 1_000_000 },
  };
}
