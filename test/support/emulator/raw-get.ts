import { connect } from 'node:net';
import type { Emulator } from '../../../src/emulator/emulator.ts';

/** All bytes received over a connection, and how it ended. */
export interface Wire {
  readonly bytes: Buffer;
  /** Splits the head, as text, from the rest. */
  readonly head: string;
  readonly body: Buffer;
  readonly end: 'fin' | 'reset' | 'timeout';
}

/** Sends one GET over a raw connection and reads until it ends, `waitMs` at most. */
export function rawGet(emulator: Emulator, path: string, waitMs = 30_000): Promise<Wire> {
  const { hostname, port } = new URL(emulator.url);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname);
    const finish = (end: Wire['end']): void => {
      clearTimeout(timer);
      socket.destroy();
      const bytes = Buffer.concat(chunks);
      const split = bytes.indexOf('\r\n\r\n');
      const head = split < 0 ? bytes.toString('latin1') : bytes.subarray(0, split).toString('latin1');
      resolve({ bytes, head, body: split < 0 ? Buffer.alloc(0) : bytes.subarray(split + 4), end });
    };
    const timer = setTimeout(() => finish('timeout'), waitMs);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => finish('fin'));
    socket.on('error', () => finish('reset'));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${emulator.apiKey}\r\n\r\n`);
  });
}
