// The script of the writing thread, see writer-thread.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { SerialQueue, systemClock } from '../../core/clock.ts';
import { commitDays } from '../../ledger/index.ts';
import { Connection } from './connection.ts';
import { runSteps } from './queries.ts';
import {
  receivedDay,
  sentError,
  type ThreadStart,
  type WriterRequest,
  type WriterResponse,
} from './thread-messages.ts';

const port = parentPort;
if (port === null) throw new Error('this script runs as a thread only');

const stop = new AbortController();
const { path, file }: ThreadStart = workerData;
const connection = new Connection(path, {
  clock: systemClock(),
  create: false,
  file,
  signal: stop.signal,
  // The main thread watches the size of the log.
  logBytesMax: Number.POSITIVE_INFINITY,
});
const queue = new SerialQueue();

function send(response: WriterResponse): void {
  port?.postMessage(response);
}

async function commit({ doing, days }: Extract<WriterRequest, { type: 'commit' }>): Promise<void> {
  try {
    const outcomes = await connection.transaction(doing, () =>
      runSteps(connection, commitDays(days.map(receivedDay))),
    );
    send({ type: 'committed', outcomes });
  } catch (error) {
    send({ type: 'failed', error: sentError(error) });
  }
}

async function answer(request: WriterRequest): Promise<void> {
  if (request.type === 'commit') return commit(request);
  connection.close();
  port?.close();
}

port.on('message', async (request: WriterRequest) => {
  if (request.type === 'stop') stop.abort();
  // Awaited, so that an unexpected failure ends the thread.
  else await queue.add(() => answer(request));
});
send({ type: 'ready' });
