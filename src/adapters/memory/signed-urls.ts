import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SignedRequest, UploadRef } from '../../ports/object-store.js';
import { StoreError } from '../../ports/object-store.js';

const MAX_SECONDS = 900;

/** URLs with a signature of the store's own; only path and query count, so any server may pass them on. */
export class SignedUrls {
  private readonly secret = randomBytes(32);

  constructor(private readonly base: () => string) {}

  sign(upload: UploadRef, partNumber: number, expiresInSeconds: number, nowMs: number): SignedRequest {
    const expiresAtMs = nowMs + Math.min(expiresInSeconds, MAX_SECONDS) * 1_000;
    const path = `/${encodeURIComponent(upload.bucket)}/${encodeURIComponent(upload.key)}`;
    const uploadId = encodeURIComponent(upload.uploadId);
    const target = `${path}?partNumber=${partNumber}&uploadId=${uploadId}&expires=${expiresAtMs}`;
    const url = `${this.base()}${target}&signature=${this.signatureOf(target)}`;
    return { method: 'PUT', url, headers: {}, expiresAtMs };
  }

  /** What a URL allows to write. `access-denied` where it isn't ours, was changed, or its time is over. */
  verify(url: string, nowMs: number): { readonly upload: UploadRef; readonly partNumber: number } {
    const match = /^(?:[a-z]+:\/\/[^/]*)?(\/([^/?]+)\/([^/?]+)\?(.*))&signature=([0-9a-f]+)$/.exec(url);
    const [, target = '', bucket = '', key = '', query = '', signature = ''] = match ?? [];
    const expected = Buffer.from(this.signatureOf(target));
    const given = Buffer.from(signature);
    if (expected.length !== given.length || !timingSafeEqual(expected, given)) {
      throw denied('SignatureDoesNotMatch', 'the signature does not match');
    }
    const fields = new URLSearchParams(query);
    if (Number(fields.get('expires')) < nowMs) throw denied('AccessDenied', 'the signed URL has expired');
    const upload = {
      bucket: decodeURIComponent(bucket),
      key: decodeURIComponent(key),
      uploadId: fields.get('uploadId') ?? '',
    };
    return { upload, partNumber: Number(fields.get('partNumber')) };
  }

  private signatureOf(target: string): string {
    return createHmac('sha256', this.secret).update(target).digest('hex');
  }
}

function denied(code: string, message: string): StoreError {
  return new StoreError('access-denied', message, { status: 403, code });
}
