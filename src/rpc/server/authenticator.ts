import type { Metadata, ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { CommitterError } from '../../core/errors.js';
import type { TokenFile } from './token-file.js';

/** Callers on a unix socket (whose mode says who may) and, without any authentication, on loopback. */
export const localPrincipal = 'local';
/** Callers from elsewhere where no authentication is configured. */
export const anonymousPrincipal = 'anonymous';

export interface AuthPolicy {
  /** What to call a caller who shows nothing; `undefined`: refuse them. */
  readonly fallback: string | undefined;
  readonly tokens: TokenFile | undefined;
  /** The TLS layer has already refused clients without a valid certificate. */
  readonly hasClientCertificates: boolean;
}

/** Says who calls, or throws UNAUTHENTICATED. A token counts before a certificate; a wrong one is never ignored. */
export function authenticate(
  policy: AuthPolicy,
  metadata: Metadata,
  call: Pick<ServerInterceptingCallInterface, 'getAuthContext'>,
): string {
  const header = metadata.get('authorization')[0]?.toString();
  if (policy.tokens !== undefined && header !== undefined) {
    const token = /^bearer\s+(\S+)$/i.exec(header)?.[1];
    const principal = token === undefined ? undefined : policy.tokens.principalOf(token);
    if (principal === undefined) throw new CommitterError('UNAUTHENTICATED', 'the bearer token is not known');
    return principal;
  }
  if (policy.hasClientCertificates) {
    const certificate = call.getAuthContext().sslPeerCertificate;
    const name = certificate && certificateName(certificate);
    if (name === undefined) {
      throw new CommitterError(
        'UNAUTHENTICATED',
        'the client certificate has no name that identifies the caller',
      );
    }
    return name;
  }
  if (policy.fallback !== undefined) return policy.fallback;
  throw new CommitterError(
    'UNAUTHENTICATED',
    'the daemon asks for a bearer token: set commitbridge.auth.token-file, or send "authorization: Bearer TOKEN"',
  );
}

interface Certificate {
  readonly subject?: { readonly CN?: string | string[] };
  readonly subjectaltname?: string;
}

/** The first URI, else DNS, else e-mail name of the certificate, else its common name. */
export function certificateName(certificate: Certificate): string | undefined {
  // Node quotes a name that holds a comma or the like; none that we would want to match does.
  const names = (certificate.subjectaltname ?? '').split(', ').filter((name) => !name.includes('"'));
  for (const kind of ['URI:', 'DNS:', 'email:']) {
    const name = names.find((candidate) => candidate.startsWith(kind));
    if (name !== undefined && name.length > kind.length) return name.slice(kind.length);
  }
  const commonName = certificate.subject?.CN;
  return typeof commonName === 'string' && commonName !== '' ? commonName : undefined;
}
