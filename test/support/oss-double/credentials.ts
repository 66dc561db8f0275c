import { randomBytes } from 'node:crypto';

export interface AccessKey {
  accessKeyId: string;
  accessKeySecret: string;
}

/** As AssumeRole hands them out. */
export interface TemporaryCredentials extends AccessKey {
  securityToken: string;
  /** In ms since the epoch, by the double's clock. */
  expiresAt: number;
}

/** Whose requests the double accepts: one lasting key, and temporary ones that a test makes. */
export class KnownKeys {
  private readonly temporary = new Map<string, TemporaryCredentials>();

  constructor(
    readonly lasting: AccessKey,
    private readonly now: () => number,
  ) {}

  /** What a security token service would answer. */
  issue(lifetimeMs: number): TemporaryCredentials {
    const issued = {
      accessKeyId: `STS.${randomBytes(9).toString('hex')}`,
      accessKeySecret: randomBytes(20).toString('hex'),
      securityToken: `CAIS${randomBytes(60).toString('base64')}`,
      expiresAt: this.now() + lifetimeMs,
    };
    this.temporary.set(issued.accessKeyId, issued);
    return issued;
  }

  /** Makes temporary credentials expire now. */
  expire(accessKeyId: string): void {
    const found = this.temporary.get(accessKeyId);
    if (found !== undefined) found.expiresAt = 0;
  }

  /** As if they had never been issued. */
  forget(accessKeyId: string): void {
    this.temporary.delete(accessKeyId);
  }

  temporaryOf(accessKeyId: string): TemporaryCredentials | undefined {
    return this.temporary.get(accessKeyId);
  }
}
