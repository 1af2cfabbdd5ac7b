// What the writing thread runs, see thread.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../../core/clock.ts';
import { SerialQueue } from '../../../core/serial-queue.ts';
import { commitDays } from '../commit-day.ts';
import { Connection } from '../connection.ts';
import { type Reply, type Request, receivedDay, type ThreadStart } from './messages.ts';
import { sentError } from './sent-error.ts';

const port = parentPort;
if (port === null) throw new Error('this is started as a thread');

const stop = new AbortController();
const { path, file }: ThreadStart = workerData;
const connection = new Connection(path, {
  clock: systemClock(),
  create: false,
  file,
  signal: stop.signal,
  // Who started the thread looks after the log.
  logBytesMax: Number.POSITIVE_INFINITY,
});
const queue = new SerialQueue();

function tell(reply: Reply): void {
  port?.postMessage(reply);
}

async function commit({ doing, days }: Extract<Request, { type: 'commit' }>): Promise<void> {
  try {
    const outcomes = await connection.transaction(doing, () => commitDays(connection, days.map(receivedDay)));
    tell({ type: 'committed', outcomes });
  } catch (error) {
    tell({ type: 'failed', error: sentError(error) });
  }
}

async function answer(request: Request): Promise<void> {
  if (request.type === 'commit') return commit(request);
  connection.close();
  port?.close();
}

port.on('message', async (request: Request) => {
  if (request.type === 'stop') stop.abort();
  // Awaited, so that a failure that nobody expects ends the thread.
  else await queue.add(() => answer(request));
});
tell({ type: 'ready' });
