import type { Clock } from '../../ports/clock.js';
import {
  StoreError,
  type ObjectRef,
  type PreparedDelete,
  type PreparedPut,
  type PutOptions,
  type PutResult,
} from '../../ports/object-store.js';
import { headerOf, type HttpAnswer } from '../lean-transport.js';
import { required } from './lean-answers.js';
import type { LeanSender, S3Request } from './lean-sender.js';
import { conditionHeaders } from './s3-hot-calls.js';
import type { S3StoreOptions } from './s3-options.js';
import { creationHeaders } from './s3-shapes.js';

/**
 * Puts and deletes by presigned URLs: the store itself refuses one that is sent too late, by its own clock. A
 * signature in a header would be good for a quarter of an hour.
 */
export class FencedRequests {
  constructor(
    private readonly sender: LeanSender,
    private readonly store: S3StoreOptions,
    private readonly clock: Pick<Clock, 'nowMs'>,
  ) {}

  async prepare(object: ObjectRef, options: PutOptions, expiresInSeconds: number): Promise<PreparedPut> {
    const headers = { ...creationHeaders(this.store, options), ...conditionHeaders(options) };
    const signed = await this.sign({ method: 'PUT', object, headers }, expiresInSeconds);
    return { object, options, ...signed };
  }

  async prepareDelete(object: ObjectRef, expiresInSeconds: number): Promise<PreparedDelete> {
    return { object, ...(await this.sign({ method: 'DELETE', object }, expiresInSeconds)) };
  }

  async send(prepared: PreparedPut, body: Uint8Array, signal: AbortSignal | undefined): Promise<PutResult> {
    const answer = await this.exchange('PUT', prepared.request, body, signal);
    return { etag: required(headerOf(answer, 'etag'), 'a put has no ETag') };
  }

  async sendDelete(prepared: PreparedDelete, signal: AbortSignal | undefined): Promise<void> {
    await this.exchange('DELETE', prepared.request, undefined, signal);
  }

  private async sign(
    request: S3Request,
    expiresInSeconds: number,
  ): Promise<Required<Omit<PreparedDelete, 'object'>>> {
    const nowMs = this.clock.nowMs();
    const { origin, path, headers } = await this.sender.presign(request, expiresInSeconds);
    return { expiresAtMs: nowMs + expiresInSeconds * 1_000, request: { url: `${origin}${path}`, headers } };
  }

  private async exchange(
    method: 'PUT' | 'DELETE',
    prepared: PreparedPut['request'],
    body: Uint8Array | undefined,
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    if (prepared === undefined) throw new StoreError('invalid', 'it was prepared by another adapter');
    const { origin } = new URL(prepared.url);
    const path = prepared.url.slice(origin.length);
    const { headers } = prepared;
    return this.sender.exchange(
      { origin, path, method, headers, ...(body === undefined ? {} : { body }) },
      signal,
    );
  }
}
