import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';

/** A requested tunnel. */
export interface Tunnel {
  /** Host and port, as CONNECT names them. */
  readonly to: string;
  /** The whole head of the request. */
  readonly head: string;
}

/** A proxy that tunnels with CONNECT, and closes itself when the test ends. */
export interface ConnectProxy {
  readonly port: number;
  readonly tunnels: readonly Tunnel[];
  /** All bytes sent to and through the proxy, in both directions. */
  seen(): string;
}

/** Starts a proxy whose tunnels all lead to one local port. `answer` replaces the tunnel; null sends nothing. */
export async function connectProxy(leadsTo: number, answer?: string | null): Promise<ConnectProxy> {
  const tunnels: Tunnel[] = [];
  const seen: string[] = [];
  const server = createServer((socket) => {
    let head = '';
    const take = (chunk: Buffer): void => {
      seen.push(chunk.toString('latin1'));
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      socket.off('data', take);
      tunnels.push({ to: head.split(' ')[1] ?? '', head });
      if (answer !== undefined) {
        if (answer !== null) socket.end(answer);
        return;
      }
      const onward = connect(leadsTo, '127.0.0.1');
      join(socket, onward);
      for (const side of [socket, onward]) side.on('data', (bytes) => seen.push(bytes.toString('latin1')));
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    };
    socket.on('data', take);
    socket.on('error', () => socket.destroy());
  });
  const port = await listening(server);
  return { port, tunnels, seen: () => seen.join('') };
}

/** Starts a server that decrypts TLS for a port, and records the Host headers. */
export async function tlsFront(
  leadsTo: number,
  tls: { readonly key: string; readonly cert: string },
): Promise<{ readonly port: number; hosts(): string[] }> {
  const hosts = new Set<string>();
  // A client that offers HTTP/2 gets it, and fails: the port speaks HTTP/1.1.
  const server = createTlsServer({ ...tls, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    socket.on('data', (chunk) => {
      for (const [, host = ''] of chunk.toString('latin1').matchAll(/^host: (.*)\r$/gim)) hosts.add(host);
    });
    join(socket, connect(leadsTo, '127.0.0.1'));
  });
  return { port: await listening(server), hosts: () => [...hosts].sort() };
}

function join(one: Socket, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
  one.on('error', () => other.destroy());
  other.on('error', () => one.destroy());
  onTestFinished(() => {
    one.destroy();
    other.destroy();
  });
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
