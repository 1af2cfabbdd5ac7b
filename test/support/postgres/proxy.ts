import { connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import { cstring, encode, MessageReader, readCstring } from './wire.ts';

export interface ProxyOptions {
  /**
   * Called with each chunk from a client before it is passed on. `cut` ends both connections: before the server sees the
   * chunk, or after the server has answered it, without passing on the answer.
   */
  readonly onSent?: (chunk: Buffer, cut: (when: 'before' | 'after') => void) => void;
  /** The server as clients see it at the moment: it answers, says nothing, or is gone. @default it answers */
  readonly state?: () => 'up' | 'silent' | 'gone';
  /** The server of the next connections. @default the one that the proxy was made for */
  readonly target?: () => string;
  /** Replaces the result of a statement, for example `INSERT 0 1`. */
  readonly tag?: (tag: string) => string;
  /** Offers TLS, with this key and certificate; plain connections are refused then. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A message that asks for TLS, which PostgreSQL answers with one letter before anything else. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** A proxy in front of a PostgreSQL server. It takes itself down when the test ends. */
export async function postgresProxy(
  serverUrl: string,
  options: ProxyOptions,
): Promise<{ readonly url: string }> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.on('error', () => undefined);
    if (options.state?.() === 'gone') {
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(options.target?.() ?? serverUrl);
    const upstream = connect(Number(port === '' ? 5432 : port), hostname);
    open.add(upstream);
    upstream.on('error', () => client.destroy());
    upstream.on('close', () => client.destroy());
    client.once('data', (first: Buffer) => begin(client, upstream, first, options));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  return { url: url.href };
}

function begin(client: Socket, upstream: Socket, first: Buffer, options: ProxyOptions): void {
  if (!first.equals(SSL_REQUEST)) {
    if (options.tls !== undefined) client.destroy();
    else relay(client, upstream, options, first);
    return;
  }
  if (options.tls === undefined) {
    client.once('data', (chunk: Buffer) => relay(client, upstream, options, chunk));
    client.write('N');
    return;
  }
  client.write('S');
  const secure = new TLSSocket(client, { isServer: true, ...options.tls });
  secure.on('error', () => undefined);
  relay(secure, upstream, options);
}

function relay(
  client: Socket,
  upstream: Socket,
  { onSent, state = () => 'up', tag }: ProxyOptions,
  first?: Buffer,
): void {
  const said = tag === undefined ? (chunk: Buffer) => chunk : retold(tag);
  let isDeaf = false;
  const cut = () => {
    client.destroy();
    upstream.destroy();
  };
  const send = (chunk: Buffer) => {
    if (state() === 'silent') return;
    if (state() === 'gone') cut();
    onSent?.(chunk, (when) => {
      if (when === 'before') cut();
      else isDeaf = true;
    });
    if (!upstream.destroyed) upstream.write(chunk);
  };
  client.on('data', send);
  client.on('close', () => upstream.destroy());
  upstream.on('data', (chunk: Buffer) => {
    // The server has executed the statement, but its answer is lost.
    if (isDeaf) cut();
    else client.write(said(chunk));
  });
  if (first !== undefined) send(first);
}

/** Passes on the server's messages, with replaced statement results. */
function retold(tag: (tag: string) => string): (chunk: Buffer) => Buffer {
  const reader = new MessageReader();
  return (chunk) => {
    reader.push(chunk);
    const passed: Buffer[] = [];
    for (let message = reader.message(); message !== undefined; message = reader.message()) {
      const isDone = message.type === 'C';
      const body = isDone ? cstring(tag(readCstring(message.body, 0).text)) : message.body;
      passed.push(encode({ ...message, body }));
    }
    return Buffer.concat(passed);
  };
}
