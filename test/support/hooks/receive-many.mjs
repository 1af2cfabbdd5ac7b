/**
 * Receives one event after the other, each as the receiver does, and says the number of each on standard output once
 * it is acknowledged. Arguments: warehouse, first number, last number. Meant to be killed.
 */
import { writeSync } from 'node:fs';
import { Readable } from 'node:stream';
import { receive } from '../../../dist/src/hooks/receive.js';

const [warehouse = '', first = '', last = ''] = process.argv.slice(2);
for (let n = Number(first); n <= Number(last); n += 1) {
  const complaints = [];
  await receive({
    pid: process.pid,
    stdin: () =>
      Readable.from([Buffer.from(JSON.stringify({ hook_event_name: 'Stop', n, pad: 'x'.repeat(500) }))]),
    warn: (line) => complaints.push(line),
    spoolFolder: () => `${warehouse}.spool`,
    dropEmails: null,
    notification: null,
    now: () => new Date(),
    ticks: () => process.hrtime.bigint(),
  });
  if (complaints.length > 0) throw new Error(complaints.join('; '));
  writeSync(1, `${n}\n`);
}
