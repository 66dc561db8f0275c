import { credentials, loadPackageDefinition, type ServiceError, status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { protoPath } from 'grpc-health-check';
import type { Finding } from './check-root.js';

const deadlineMs = 5_000;

interface HealthClient {
  check(
    request: { service: string },
    options: { deadline: number },
    callback: (error: ServiceError | null, response?: { status: string }) => void,
  ): void;
  close(): void;
}

type HealthClientClass = new (
  address: string,
  channel: ReturnType<typeof credentials.createInsecure>,
) => HealthClient;

/** grpc.health.v1 of a running daemon: for container health checks. */
export async function checkDaemon(address: string): Promise<Finding> {
  const definition = loadPackageDefinition(loadSync(protoPath, { enums: String, defaults: true }));
  const health = (definition['grpc'] as unknown as { health: { v1: { Health: HealthClientClass } } }).health;
  const client = new health.v1.Health(address, credentials.createInsecure());
  const finding = { subject: address, check: 'health' } as const;
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      client.check({ service: '' }, { deadline: Date.now() + deadlineMs }, (error, response) => {
        if (error === null) resolve(response?.status ?? 'UNKNOWN');
        else reject(error);
      });
    });
    if (answer === 'SERVING') return { ...finding, status: 'ok', message: 'the daemon serves' };
    return { ...finding, status: 'unmet', message: `the daemon says ${answer}: it is shutting down` };
  } catch (error) {
    const { code, details } = error as ServiceError;
    return {
      ...finding,
      status: 'unreachable',
      message: `no daemon answers there (${status[code]}: ${details}): is it running, and does listen name this address?`,
    };
  } finally {
    client.close();
  }
}
