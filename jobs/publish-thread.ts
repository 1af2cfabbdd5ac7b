// What the second thread of a publish runs, see src/publish/thread/thread.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../src/core/clock.ts';
import { servePublish } from '../src/publish/thread/serve.ts';
import { openReader } from '../src/warehouse/open.ts';

const port = parentPort;
if (port === null) throw new Error('this is started as a thread');

const clock = systemClock();
const reader = await openReader(String(workerData), { clock });
try {
  // Who started the thread ends it when the process is to stop.
  await servePublish(port, reader, { clock, signal: new AbortController().signal });
} finally {
  await reader.close();
  port.close();
}
