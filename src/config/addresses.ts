import { isIP } from 'node:net';
import type { ListenAddress, TcpAddress } from './config.js';

/** `sun_path` of Linux less its closing zero. */
const maxSocketPathBytes = 107;

/** The address, or the end of a sentence that says what is wrong with it. */
export function parseListen(text: string): ListenAddress | string {
  if (!text.startsWith('unix:')) return parseTcp(text);
  const path = text.replace(/^unix:(\/\/)?/, '');
  if (!path.startsWith('/'))
    return 'must name an absolute path, as unix:///run/commitbridge/commitbridge.sock';
  const length = Buffer.byteLength(path);
  if (length > maxSocketPathBytes) {
    return `names a socket path of ${length} bytes; the system takes ${maxSocketPathBytes}`;
  }
  if (!path.endsWith('.sock')) return 'must name a path that ends in .sock';
  return { kind: 'unix', path };
}

export function parseTcp(text: string): TcpAddress | string {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535 || (match?.[1] !== undefined && isIP(host) !== 6)) {
    return 'must be host:port, as 127.0.0.1:7420 or [::1]:7420, or unix:///path/name.sock';
  }
  return { kind: 'tcp', host, port };
}

/** Only this machine can reach it. */
export function isLoopback(address: TcpAddress): boolean {
  return address.host === 'localhost' || address.host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(address.host);
}

export function formatListen(address: ListenAddress): string {
  if (address.kind === 'unix') return `unix://${address.path}`;
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}
