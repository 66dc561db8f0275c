import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions, type SecureVersion } from 'node:tls';
import { ServerCredentials, type ServerInterceptor } from '@grpc/grpc-js';
import type { TlsConfig } from '../../config/config.js';
import type { Logger } from '../../ports/logger.js';
import { watchFiles } from './watched-files.js';

/**
 * TLS for a listener. grpc-js's `createSsl` knows neither a lowest version nor files that change, so this fills the
 * abstract class that it is made from.
 */
export class TlsCredentials extends ServerCredentials {
  private readonly stopWatching: () => void;

  constructor(
    config: TlsConfig,
    private readonly interceptors: ServerInterceptor[],
    logger: Logger,
  ) {
    super(
      { requestCert: config.clientCa !== undefined, rejectUnauthorized: config.clientCa !== undefined },
      readContext(config),
    );
    const files = [config.cert, config.key, ...(config.clientCa === undefined ? [] : [config.clientCa])];
    this.stopWatching = watchFiles(files, () => {
      try {
        this.updateSecureContextOptions(readContext(config));
        logger.info('certificates read again', { files });
      } catch (error) {
        logger.error('certificates not read again', { files, error });
      }
    });
  }

  override _getInterceptors(): ServerInterceptor[] {
    return this.interceptors;
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }

  close(): void {
    this.stopWatching();
  }
}

function readContext(config: TlsConfig): SecureContextOptions {
  const options: SecureContextOptions = {
    cert: readFileSync(config.cert),
    key: readFileSync(config.key),
    minVersion: `TLSv${config.minVersion}` satisfies SecureVersion,
    ...(config.clientCa === undefined ? {} : { ca: readFileSync(config.clientCa) }),
  };
  // Throws here, and not at the first handshake, where the files don't fit together.
  createSecureContext(options);
  return options;
}
