import OSS from 'ali-oss';
import type { Clock } from '../../ports/clock.js';
import { StoreError } from '../../ports/object-store.js';
import type { OssCredentials, OssCredentialsSource } from './oss-credentials.js';
import type { OssCredentialsOptions } from './oss-options.js';

export type AssumeRole = (
  options: OssCredentialsOptions & { readonly kind: 'sts' },
) => Promise<Required<OssCredentials>>;

/** They are fetched again when so much of their life is left, or this long before they end where that is less. */
const REFRESH_AT_LEFT = 0.25;
const REFRESH_BEFORE_MS = 5 * 60_000;
/** A request may be under way for so long after it was signed. */
const UNUSABLE_BEFORE_MS = 5_000;
const RETRY_AFTER_MS = 5_000;

/**
 * Temporary credentials, fetched again ahead of their end by one caller while the others go on with those that are
 * still good. ali-oss's own refresh lets each of many requests begin one, and gives the stale ones meanwhile.
 */
export class StsCredentials implements OssCredentialsSource {
  private current: { readonly credentials: Required<OssCredentials>; refreshAtMs: number } | undefined;
  private pending: Promise<Required<OssCredentials>> | undefined;

  constructor(
    private readonly fetch: () => Promise<Required<OssCredentials>>,
    private readonly clock: Pick<Clock, 'nowMs'>,
  ) {}

  get(): Promise<OssCredentials> {
    const { current } = this;
    const nowMs = this.clock.nowMs();
    if (current === undefined || nowMs >= current.credentials.expiration.getTime() - UNUSABLE_BEFORE_MS) {
      return this.fetchOnce();
    }
    if (nowMs >= current.refreshAtMs) {
      this.fetchOnce().catch(() => {
        // They are good for a while yet; whoever needs others hears why there are none.
        current.refreshAtMs = this.clock.nowMs() + RETRY_AFTER_MS;
      });
    }
    return Promise.resolve(current.credentials);
  }

  /** Requests that were signed with others than the current ones change nothing: the current ones are newer. */
  refused(credentials: OssCredentials): void {
    if (this.current?.credentials === credentials) this.current = undefined;
  }

  private fetchOnce(): Promise<Required<OssCredentials>> {
    this.pending ??= this.fetch()
      .then((credentials) => {
        this.current = { credentials, refreshAtMs: this.refreshAt(credentials) };
        return credentials;
      })
      .finally(() => {
        this.pending = undefined;
      });
    return this.pending;
  }

  private refreshAt({ expiration }: Required<OssCredentials>): number {
    const leftMs = expiration.getTime() - this.clock.nowMs();
    return expiration.getTime() - Math.min(REFRESH_BEFORE_MS, leftMs * REFRESH_AT_LEFT);
  }
}

/** By ali-oss. */
export const assumeRole: AssumeRole = async (options) => {
  const { roleArn, sessionName, durationSeconds, endpoint, source } = options;
  const { accessKeyId, accessKeySecret } = source;
  const sts = new OSS.STS({ accessKeyId, accessKeySecret, ...(endpoint === undefined ? {} : { endpoint }) });
  try {
    const { credentials } = await sts.assumeRole(roleArn, undefined, durationSeconds, sessionName);
    return {
      accessKeyId: credentials.AccessKeyId,
      accessKeySecret: credentials.AccessKeySecret,
      securityToken: credentials.SecurityToken,
      expiration: new Date(credentials.Expiration),
    };
  } catch (cause) {
    // The error of ali-oss carries the whole request, with its signature.
    const { status, code = 'unknown' } = (cause ?? {}) as { status?: number; code?: string };
    const isRefusal = status !== undefined && status >= 400 && status < 500 && !code.includes('Throttling');
    throw new StoreError(
      isRefusal ? 'access-denied' : 'unavailable',
      `STS gave no credentials for ${roleArn}: check credentials.sts code=${code}`,
      { code, ...(status === undefined ? {} : { status }) },
    );
  }
};
