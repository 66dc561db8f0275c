import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** What the server got, connection by connection. */
export interface Accepted {
  readonly socket: Socket;
  received: string;
}

/** A TCP server that a test lets say whatever it wants. `onRequest` is called with each whole head and its body. */
export async function startRawServer(
  onRequest: (connection: Accepted, request: string, index: number) => void,
): Promise<{ readonly origin: string; readonly accepted: Accepted[]; stop(): Promise<void> }> {
  const accepted: Accepted[] = [];
  let requests = 0;
  const server = createServer((socket) => {
    const connection: Accepted = { socket, received: '' };
    accepted.push(connection);
    let pending = '';
    socket.setEncoding('latin1');
    socket.on('error', () => undefined);
    socket.on('data', (text: string) => {
      connection.received += text;
      pending += text;
      for (;;) {
        const end = pending.indexOf('\r\n\r\n');
        if (end < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(pending.slice(0, end))?.[1] ?? 0);
        const whole = end + 4 + length;
        if (pending.length < whole) return;
        const request = pending.slice(0, whole);
        pending = pending.slice(whole);
        onRequest(connection, request, requests++);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    accepted,
    async stop() {
      for (const { socket } of accepted) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
