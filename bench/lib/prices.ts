import type { RequestCounts, RequestKind } from '../../test/support/observer/index.js';

/**
 * Amazon S3's list prices in dollars for 1,000 requests: S3 Standard, us-east-1, https://aws.amazon.com/s3/pricing/,
 * "Requests & data retrievals": PUT, COPY, POST, LIST 0.005; GET, SELECT and all others 0.0004; DELETE and CANCEL free.
 * DeleteObjects is a POST that counts as DELETE, AbortMultipartUpload is CANCEL.
 */
const write = 0.005;
const read = 0.0004;

const dollarsPer1000: Record<RequestKind, number> = {
  initiate: write,
  part: write,
  complete: write,
  put: write,
  copy: write,
  list: write,
  list_uploads: write,
  list_parts: write,
  get: read,
  head: read,
  other: read,
  abort: 0,
  delete: 0,
  delete_many: 0,
};

export const priceSource =
  'S3 Standard, us-east-1, https://aws.amazon.com/s3/pricing/: PUT, COPY, POST, LIST $0.005 for 1,000; GET, HEAD $0.0004; DELETE and aborts free';

export function dollars(counts: RequestCounts): number {
  const kinds = Object.entries(counts) as [RequestKind, number][];
  return kinds.reduce((sum, [kind, count]) => sum + (count * dollarsPer1000[kind]) / 1_000, 0);
}
