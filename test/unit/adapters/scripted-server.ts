import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export type Answer =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      /** Awaited between the head and the body. */
      readonly pause?: () => Promise<void>;
      /** Closes the connection after the body, whatever length the headers promised. */
      readonly cut?: boolean;
    }
  | 'hang'
  | 'reset';

/** An HTTP server that answers its requests as a script says, the last answer again and again. */
export async function startScriptedServer(answers: readonly Answer[]): Promise<{
  readonly endpoint: string;
  readonly seen: SeenRequest[];
  stop(): Promise<void>;
}> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks) });
      answer(response, answers[Math.min(seen.length, answers.length) - 1] ?? 'reset');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    seen,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(response: ServerResponse, how: Answer): void {
  if (how === 'hang') return;
  if (how === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  response.writeHead(how.status, how.headers);
  if (how.pause !== undefined) {
    response.flushHeaders();
    void how.pause().then(() => response.end(how.body));
    return;
  }
  if (how.cut !== true) {
    response.end(how.body);
    return;
  }
  response.write(how.body ?? '', () => response.socket?.destroy());
}

export function errorXml(code: string, message = 'Said the store.'): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
}
