import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { digestOf, fetchText, REQUESTS, startForDigest } from '../../support/emulator/answers-digest.ts';
import { pathOf, probe } from '../../support/emulator/probe.ts';
import { firstLine, startScript } from '../../support/process/script.ts';

const DAY = parseDay('2026-02-03');

/**
 * The answers of seed 7, once and for all. A change to the data set changes it, and with it the data of everybody who
 * relies on a seed: say so in the changelog.
 */
const PINNED = '7098e51c7b92c7d1a434ec6edd35c11091d0e0a893d2a99da1fb47be322c1180';

async function digestInZone(zone: string): Promise<{ offset: string; digest: string }> {
  const script = startScript("import './test/support/emulator/print-digest.ts'", { env: { TZ: zone } });
  const [offset = '', digest = ''] = (await firstLine(script)).split(' ');
  return { offset, digest };
}

test('answers are the same in every time zone and every release', { tags: 'ci/rare' }, async () => {
  const [east, west] = await Promise.all([
    digestInZone('Pacific/Kiritimati'),
    digestInZone('America/St_Johns'),
  ]);
  expect([east.offset, west.offset]).toEqual(['-840', '210']);
  expect(east.digest).toBe(PINNED);
  expect(west.digest).toBe(PINNED);
});

test('answers do not depend on the order of requests, on concurrency or on what is cached', {
  tags: 'ci/rare',
}, async () => {
  const forward = await startForDigest();
  const backward = await startForDigest();
  try {
    const serial: string[] = [];
    for (const path of REQUESTS) serial.push(await fetchText(forward, path));
    const parallel = await Promise.all(REQUESTS.toReversed().map((path) => fetchText(backward, path)));
    const again = await Promise.all(REQUESTS.map((path) => fetchText(backward, path)));
    expect(parallel.reverse()).toEqual(serial);
    expect(again).toEqual(serial);
    expect(digestOf(serial)).toBe(PINNED);
  } finally {
    await Promise.all([forward.close(), backward.close()]);
  }
});

test('another seed gives another organization', async () => {
  const [one, two] = [await probe({ seed: 1 }), await probe({ seed: 2 })];
  const users = async (at: typeof one) => (await at.walk('2026-03-10')).rows.map((row) => row.user_id);
  expect(one.emulator.orgId).not.toBe(two.emulator.orgId);
  expect(one.emulator.apiKey).not.toBe(two.emulator.apiKey);
  const others = new Set(await users(two));
  expect(others.size).toBeGreaterThan(10);
  expect((await users(one)).filter((id) => others.has(id))).toEqual([]);
});

test('once its numbers are final, a day does not depend on today', { tags: 'ci/rare' }, async () => {
  const early = await probe({ today: shiftDay(DAY, 1) });
  const late = await probe({ today: shiftDay(DAY, 200) });
  for (const stream of ['tokens', 'tools', 'activity', 'productivity'] as const) {
    expect(await early.rows(stream, DAY)).toEqual(await late.rows(stream, DAY));
  }
});

test('pages of any size over any range concatenate to the same rows', async () => {
  const at = await probe({ users: 60 });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 0, max: 3 }),
      async (limit, start, length) => {
        const first = shiftDay(DAY, start);
        const days = `${first}..${shiftDay(first, length)}`;
        const whole = await at.get(pathOf('users', days, 'limit=100'));
        expect(whole.json.meta).toMatchObject({ has_more: false });
        const { rows, pages } = await at.walk(days, `limit=${limit}`);
        expect(rows).toEqual(whole.json.data);
        const users = new Set(rows.map((row) => row.user_id)).size;
        expect(pages).toBe(Math.max(1, Math.ceil(users / limit)));
      },
    ),
    { numRuns: 25 },
  );
});
