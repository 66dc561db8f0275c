import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Clock } from '../../ports/clock.js';
import {
  StoreError,
  type ObjectRef,
  type PreparedDelete,
  type PreparedPut,
  type PutOptions,
  type PutResult,
} from '../../ports/object-store.js';
import type { S3Connection } from './s3-connection.js';
import type { S3StoreOptions } from './s3-options.js';
import { addressOf, creationFields } from './s3-shapes.js';

/**
 * Puts and deletes by presigned URLs: the store itself refuses one that is sent too late, by its own clock. A
 * signature in a header would be good for a quarter of an hour.
 */
export class FencedRequests {
  constructor(
    private readonly connection: S3Connection,
    private readonly store: S3StoreOptions,
    private readonly clock: Pick<Clock, 'nowMs'>,
  ) {}

  async prepare(object: ObjectRef, options: PutOptions, expiresInSeconds: number): Promise<PreparedPut> {
    const headers = headersOf(options);
    const command = new PutObjectCommand({
      ...addressOf(object),
      ...creationFields(this.store, options),
      IfNoneMatch: options.ifNoneMatch,
      IfMatch: options.ifMatch,
    });
    const signed = await this.sign(command, headers, expiresInSeconds);
    return { object, options, ...signed };
  }

  async prepareDelete(object: ObjectRef, expiresInSeconds: number): Promise<PreparedDelete> {
    return { object, ...(await this.sign(new DeleteObjectCommand(addressOf(object)), {}, expiresInSeconds)) };
  }

  async send(prepared: PreparedPut, body: Uint8Array, signal: AbortSignal | undefined): Promise<PutResult> {
    const response = await request('PUT', prepared.request, Buffer.from(body), signal);
    const etag = response.headers.get('etag');
    if (etag === null)
      throw new StoreError('unavailable', 'the answer to a put has no ETag', { status: 200 });
    return { etag };
  }

  async sendDelete(prepared: PreparedDelete, signal: AbortSignal | undefined): Promise<void> {
    await request('DELETE', prepared.request, undefined, signal);
  }

  private async sign(
    command: PutObjectCommand | DeleteObjectCommand,
    headers: Readonly<Record<string, string>>,
    expiresInSeconds: number,
  ): Promise<Required<Omit<PreparedDelete, 'object'>>> {
    const { client } = this.connection;
    const nowMs = this.clock.nowMs();
    const url = await getSignedUrl(client, command, {
      expiresIn: expiresInSeconds,
      // With the store's time as the SDK knows it from answers.
      signingDate: new Date(nowMs + client.config.systemClockOffset),
      // Servers read metadata and conditions from headers, not from the query.
      unhoistableHeaders: new Set(Object.keys(headers)),
      signableHeaders: new Set(['host', ...Object.keys(headers)]),
    });
    return { expiresAtMs: nowMs + expiresInSeconds * 1_000, request: { url, headers } };
  }
}

async function request(
  method: 'PUT' | 'DELETE',
  prepared: PreparedPut['request'],
  body: Buffer<ArrayBuffer> | undefined,
  signal: AbortSignal | undefined,
): Promise<Response> {
  if (prepared === undefined) throw new StoreError('invalid', 'it was prepared by another adapter');
  let response: Response;
  let text: string;
  try {
    response = await fetch(prepared.url, {
      method,
      headers: prepared.headers,
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    // `fetch` hides the reason in the cause; whatever it is, the connection failed, and the URL must not be told.
    const { code = 'unknown' } = ((error instanceof Error ? error.cause : undefined) ?? {}) as {
      code?: string;
    };
    throw new StoreError('unavailable', `the connection failed before an answer came code=${code}`, {
      code,
    });
  }
  if (response.ok) return response;
  throw answerOf(response, text);
}

function headersOf({ ifNoneMatch, ifMatch, contentType, metadata }: PutOptions): Record<string, string> {
  return {
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
    ...Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, value]) => [`x-amz-meta-${name}`, value]),
    ),
  };
}

/** In the shape that `toStoreError` knows from the SDK. */
function answerOf(response: Response, text: string): Error {
  const code = /<Code>([^<]*)<\/Code>/.exec(text)?.[1];
  const message = /<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? response.statusText;
  return Object.assign(new Error(message), {
    name: code ?? 'Error',
    $metadata: { httpStatusCode: response.status },
    $response: { statusCode: response.status, headers: Object.fromEntries(response.headers) },
  });
}
