import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../ports/logger.js';

export interface AdminServerOptions {
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
  /** Why the daemon should get no calls, or `undefined` where it should. */
  readonly notReady: () => string | undefined;
}

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * HTTP for scrapers and load balancers: `/metrics`; `/healthz`, which answers 200 as long as the process does;
 * `/readyz`, which answers 503 while it drains or a store can't be reached.
 */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://admin').pathname;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      answer(response, 405, 'only GET\n');
      return;
    }
    switch (path) {
      case '/healthz':
        answer(response, 200, 'ok\n');
        return;
      case '/readyz': {
        const reason = options.notReady();
        answer(response, reason === undefined ? 200 : 503, `${reason ?? 'ok'}\n`);
        return;
      }
      case '/metrics':
        options.metrics.render().then(
          (text) => {
            answer(response, 200, text, options.metrics.contentType);
          },
          (error: unknown) => {
            options.logger.error('metrics not rendered', { error });
            answer(response, 500, 'see the log\n');
          },
        );
        return;
      default:
        answer(response, 404, '/metrics, /healthz, /readyz\n');
    }
  });
  await listening(server, options.host, options.port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function listening(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function answer(response: ServerResponse, status: number, body: string, contentType = 'text/plain'): void {
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
