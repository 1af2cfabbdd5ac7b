// @module-tag campaign/chaos

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { drain, receive, storedEvents } from '../../support/hooks/receive-and-drain.ts';
import { seeded } from '../../support/random/seed.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';

const isLongCampaign = process.env['DAYWALK_CHAOS'] === '1';
const CLIENTS = isLongCampaign ? 20 : 12;
const RECEIVE_MANY = fileURLToPath(new URL('../../support/hooks/receive-many.mjs', import.meta.url));
/** Twenty receiver processes take a second on two cores; DAYWALK_CHAOS=1 runs all 1,000. */
const PROCESSES = isLongCampaign ? 1_000 : 40;
/** Events that each of the long-lived receivers takes. */
const EVENTS_EACH = isLongCampaign ? 50 : 20;
const EVENTS = CLIENTS * EVENTS_EACH;

/** Drains repeatedly, like concurrent runs, until it is stopped. */
function drainMeanwhile(warehouse: string) {
  let isOver = false;
  let rounds = 0;
  const done = (async () => {
    while (!isOver) {
      await drain(warehouse, { asProcess: true });
      rounds += 1;
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await done;
      await drain(warehouse);
      return rounds;
    },
  };
}

function expectEachOnce(warehouse: string, acknowledged: ReadonlySet<number>, killed: number): void {
  const stored = storedEvents(warehouse).map((row) => JSON.parse(row['payload'] ?? ''));
  const numbers = stored.map(({ n }) => Number(n));
  expect(new Set(numbers).size, 'no event twice').toBe(numbers.length);
  expect(
    [...acknowledged].filter((n) => !numbers.includes(n)),
    'no acknowledged event lost',
  ).toEqual([]);
  // Who was killed may have stored its event without having said so; nothing else is there, and nothing in halves.
  expect(numbers.length - acknowledged.size).toBeLessThanOrEqual(killed);
  expect(stored.every(({ pad }) => String(pad).length === 500)).toBe(true);
}

test(`${EVENTS} events received by ${CLIENTS} processes at once, which are killed and restarted, are all stored once`, async () => {
  const warehouse = tempFile();
  const random = seeded('hook calls');
  const acknowledged = new Set<number>();
  let killed = 0;

  /** One process that receives from `first` on; answers the next number that is to be received. */
  const receiveSome = (first: number, last: number, killAfter: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const args = [RECEIVE_MANY, warehouse, `${first}`, `${last}`];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      let next = first;
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n').filter((part) => part !== '')) {
          acknowledged.add(Number(line));
          next = Number(line) + 1;
          // At an instant in the middle of what comes after: between two writes, in one, before an answer.
          if (next - first === killAfter) setTimeout(() => child.kill('SIGKILL'), random() * 3);
        }
      });
      child.on('close', (code, signal) => {
        if (code !== 0 && signal !== 'SIGKILL')
          return reject(new Error(`a receiver ended with ${code ?? signal}`));
        if (signal === 'SIGKILL') {
          killed += 1;
          // It may have stored this event, and a client does not send an event again.
          next += 1;
        }
        resolve(next);
      });
    });

  const drains = drainMeanwhile(warehouse);
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, number) => {
      const last = (number + 1) * EVENTS_EACH - 1;
      let next = number * EVENTS_EACH;
      while (next <= last) next = await receiveSome(next, last, 1 + Math.floor(random() * 0.5 * EVENTS_EACH));
    }),
  );
  // How many drains fit beside the receivers depends on the machine; one has been under way all the time.
  expect(await drains.stop()).toBeGreaterThan(0);
  expect(killed).toBeGreaterThan(CLIENTS / 2);
  expect(acknowledged.size).toBeGreaterThanOrEqual(EVENTS - killed);
  expectEachOnce(warehouse, acknowledged, killed);
});

test(`${PROCESSES} receivers, one process per event, killed at any instant from their start on, lose nothing`, async () => {
  const warehouse = tempFile();
  const random = seeded('hook calls');
  const acknowledged = new Set<number>();
  let killed = 0;
  let lifeMs = 300;
  const client = async (number: number) => {
    for (let n = number; n < PROCESSES; n += CLIENTS) {
      const kills = random() < 0.3;
      const event = { hook_event_name: 'Stop', session_id: `s-${number}`, n, pad: 'x'.repeat(500) };
      const { code, signal, durationMs } = await receive(JSON.stringify(event), {
        args: ['--warehouse', warehouse],
        onSpawn: (child) => {
          if (kills) setTimeout(() => child.kill('SIGKILL'), lifeMs * 1.2 * random());
        },
      });
      if (signal === 'SIGKILL') killed += 1;
      if (code !== 0) continue;
      acknowledged.add(n);
      lifeMs = durationMs;
    }
  };
  const drains = drainMeanwhile(warehouse);
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  await drains.stop();
  expect(killed).toBeGreaterThan(0);
  expect(acknowledged.size).toBeGreaterThan(PROCESSES / 2);
  expectEachOnce(warehouse, acknowledged, killed);
});
