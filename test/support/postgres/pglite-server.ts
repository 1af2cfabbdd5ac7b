// A separate process: serves PGlite over TCP until its standard input ends, also when its parent dies.
import { createServer } from 'node:net';
import { PGlite } from '@electric-sql/pglite';
import { PgliteBackend } from './pglite-backend.ts';
import { PgliteClient } from './pglite-client.ts';

const db = await PGlite.create();
const backend = new PgliteBackend(db);
const server = createServer((socket) => void new PgliteClient(socket, backend));

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  process.stdout.write(`${JSON.stringify({ url: `postgres://postgres@127.0.0.1:${port}/postgres` })}\n`);
});

process.stdin.resume().on('end', () => process.exit());
