// The script of the process that reads, see reader-process.ts.
import { Worker } from 'node:worker_threads';
import { allTables } from '../../../schema/tables.ts';
import { SerialQueue, systemClock } from '../../core/clock.ts';
import type { Connection } from './connection.ts';
import { damagesOf } from './migrate.ts';
import { readRows, scan, selectText, versionOf } from './queries.ts';
import type { AskedRows, ReaderRequest, ReaderResponse } from './reader-process.ts';
import { sentError } from './thread-messages.ts';
import { connectForReading } from './warehouse.ts';

/** How often to look whether the parent is still there. */
const LOOK_MS = 250;

// During a statement this thread hears nothing, and nobody waits for the answer once the parent was killed.
const watch = `const parent = process.ppid;
setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL'); }, ${LOOK_MS});`;
new Worker(watch, { eval: true }).unref();

let opened: Connection | undefined;
const scans = new Map<number, ReturnType<typeof scan>>();
let scansBegun = 0;

function connection(): Connection {
  if (opened === undefined) throw new TypeError('nothing is open');
  return opened;
}

function tableOf({ table }: AskedRows) {
  const found = allTables.find(({ name }) => name === table);
  if (found === undefined) throw new TypeError(`there is no table ${table}`);
  return found;
}

async function answerTo(request: ReaderRequest): Promise<unknown> {
  switch (request.call) {
    case 'open':
      opened = await connectForReading(request.path, { ...request, create: false, clock: systemClock() });
      return;
    case 'select':
      return selectText(connection(), request);
    case 'rows':
      return readRows(connection(), tableOf(request), request.scope ?? { orgId: '' }, request.columns);
    case 'scan':
      scansBegun += 1;
      scans.set(scansBegun, scan(connection(), tableOf(request), request.scope, request.columns));
      return scansBegun;
    case 'next':
      return (await scans.get(request.scan)?.next())?.value;
    case 'stop':
      await scans.get(request.scan)?.return(undefined);
      scans.delete(request.scan);
      return;
    case 'begin':
      connection().begin();
      return;
    case 'end':
      connection().rollback();
      return;
    case 'version':
      return connection().read('read', () => versionOf(connection()));
    case 'damages':
      return connection().read('check', () => damagesOf(connection()));
  }
}

async function respond(request: ReaderRequest): Promise<void> {
  const response: ReaderResponse = await answerTo(request).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error: sentError(error) }),
  );
  process.send?.(response);
}

const queue = new SerialQueue();
process.on('message', (request: ReaderRequest) => void queue.add(() => respond(request)));
process.on('disconnect', () => {
  opened?.close();
  process.exit();
});
