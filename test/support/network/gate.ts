import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A port that leads to a service, and can be shut as if the service was down. */
export interface Gate {
  readonly url: string;
  /** Refuses new connections, and resets the open ones. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

/** Opens a gate to a service on this machine. */
export async function openGate(to: string): Promise<Gate> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;
  const open = async () => {
    server = createServer((inner) => {
      const outer = connect(Number(target.port), target.hostname);
      for (const socket of [inner, outer]) {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket));
        socket.on('error', () => socket.destroy());
      }
      inner.pipe(outer).pipe(inner);
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address === 'object' && address !== null) port = address.port;
  };
  const shut = async () => {
    const closing = server;
    server = undefined;
    if (closing === undefined) return;
    const closed = once(closing, 'close');
    closing.close();
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  await open();
  onTestFinished(shut);
  return { url: `http://127.0.0.1:${port}`, shut, open };
}
