// @module-tag campaign/chaos

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { drain, receive, storedEvents } from '../../support/hooks/receive-and-drain.ts';
import { MAIN } from '../../support/process/daywalk-process.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';

/** strace kills a process as it enters its n-th call of a kind: every instant at which a kill can matter is met. */
const CAN_TRACE =
  process.platform === 'linux' && spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
const NO_STRACE = 'this machine has no strace';
const EVERYTHING = process.env['DAYWALK_CHAOS'] === '1';
const INSTANTS_MAX = 60;

function killedAt(
  calls: string,
  n: number,
  args: readonly string[],
  input = '',
  only: readonly string[] = [],
): boolean {
  const paths = only.flatMap((path) => ['-P', path]);
  const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:signal=SIGKILL:when=${n}`];
  const call = ['-f', '-o', '/dev/null', ...inject, ...paths, process.execPath, MAIN, ...args];
  const { status, signal } = spawnSync('strace', call, { input, stdio: ['pipe', 'ignore', 'ignore'] });
  if (status !== 0 && signal !== 'SIGKILL' && status !== 137) throw new Error(`strace ended with ${status}`);
  return status !== 0;
}

const numbersIn = (warehouse: string) =>
  storedEvents(warehouse).map((row) => Number(JSON.parse(row['payload'] ?? '')['n']));

test('a receiver killed at any of its writes and syncs stores its event once, or not at all', async ({
  skip,
}) => {
  skip(!CAN_TRACE, NO_STRACE);
  const warehouse = tempFile();
  const spool = `${warehouse}.spool`;
  const files = [spool, `${spool}/events.jsonl`];
  const args = ['hook', '--warehouse', warehouse];
  const acknowledged: number[] = [];
  let events = 0;
  for (const call of ['mkdir', 'write', 'fsync']) {
    for (let n = 1; n <= INSTANTS_MAX; n += 1) {
      events += 1;
      if (killedAt(call, n, args, `{"n":${events}}`, files)) continue;
      acknowledged.push(events);
      break;
    }
  }
  // Killed at making the folder, at the write, at the sync of the file and at that of the folder.
  expect(events - acknowledged.length).toBe(4);
  await drain(warehouse);
  const numbers = numbersIn(warehouse);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers).toEqual(expect.arrayContaining(acknowledged));
});

test('a drain killed at any of its renames, syncs and removals loses nothing and stores nothing twice', async ({
  skip,
}) => {
  skip(!CAN_TRACE, NO_STRACE);
  const warehouse = tempFile();
  const calls = ['rename', 'fsync', 'unlink', ...(EVERYTHING ? ['pwrite64', 'ftruncate'] : [])];
  await drain(warehouse);
  let events = 0;
  for (const call of calls) {
    for (let n = 1; n <= INSTANTS_MAX; n += 1) {
      await receive(`{"n":${events}}`, { args: ['--warehouse', warehouse] });
      events += 1;
      if (!killedAt(call, n, ['hooks', 'drain', '--warehouse', warehouse])) break;
    }
  }
  const kills = events - calls.length;
  expect(kills).toBeGreaterThanOrEqual(6);
  await drain(warehouse);
  expect(numbersIn(warehouse).toSorted((a, b) => a - b)).toEqual(Array.from({ length: events }, (_, n) => n));
});
