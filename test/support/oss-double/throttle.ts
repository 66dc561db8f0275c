import { OssError } from './oss-error.js';

/** A limit of requests a second, over all and for the objects of one prefix, as OSS answers when it is passed. */
export interface QpsLimits {
  total?: number;
  /** Of requests about keys whose first segments are the same; OSS allows 2,000 where keys are sequential. */
  perPrefix?: number;
}

/** Counts by the second; what is over the limit is refused and not delayed, as OSS does. */
export class Throttle {
  private second = 0;
  private total = 0;
  private readonly byPrefix = new Map<string, number>();

  constructor(
    private readonly limits: QpsLimits,
    private readonly now: () => number,
  ) {}

  take(key: string): void {
    const second = Math.floor(this.now() / 1000);
    if (second !== this.second) {
      this.second = second;
      this.total = 0;
      this.byPrefix.clear();
    }
    this.total += 1;
    if (this.total > (this.limits.total ?? Infinity)) {
      throw new OssError(503, 'TotalQpsLimitExceeded', 'Please reduce your request rate.', {
        headers: { 'Retry-After': '1' },
      });
    }
    if (key === '' || this.limits.perPrefix === undefined) return;
    const prefix = key.slice(0, key.lastIndexOf('/') + 1);
    const count = (this.byPrefix.get(prefix) ?? 0) + 1;
    this.byPrefix.set(prefix, count);
    if (count > this.limits.perPrefix) {
      throw new OssError(503, 'QpsLimitExceeded', 'Please reduce your request rate.');
    }
  }
}
