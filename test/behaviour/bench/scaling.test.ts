// @module-tag ci/upkeep

import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { perDay, requestsPerLook, requestsPerNight } from '../../../bench/scaling/arithmetic.ts';
import { MEASURED } from '../../../bench/scaling/measured.ts';
import { contentTables } from '../../../schema/tables.ts';
import { FIRST_DAY, parseDay, shiftDay } from '../../../src/core/day.ts';
import { createRig } from '../../support/rig/rig.ts';

const DAYS = 30;

it('docs/scaling.md is measured: a month of 50 active users needs the rows and bytes of the constants', async () => {
  const rig = await createRig({ users: 50, steady: true, reports: 0, today: parseDay('2026-04-01') });
  const until = parseDay('2026-03-31');
  await rig.run({ from: parseDay('2026-03-02'), until, now: parseDay('2026-04-01') });
  const counts = contentTables.map(({ name }) => rig.value(`SELECT COUNT(*) FROM "${name}"`));
  const rows = (await Promise.all(counts)).reduce((sum, count) => sum + Number(count), 0);
  const within = (value: number, expected: number, share: number) =>
    expect(Math.abs(value / expected - 1), `${value} of ${expected}`).toBeLessThan(share);
  within(rows / DAYS, perDay(MEASURED.rows, 50), 0.1);
  // An empty warehouse takes some 200 KB by itself, which is much of a month of so few users.
  within((statSync(rig.path).size - 200_000) / DAYS, perDay(MEASURED.sqliteBytes, 50), 0.25);
});

it('docs/scaling.md counts the requests of nights: 2,000 active users, whose days do not fit into one range', {
  tags: 'ci/rare',
}, async () => {
  const [users, days, nights] = [2_000, 45, 6];
  const first = shiftDay(FIRST_DAY, days);
  const rig = await createRig({ users, steady: true, reports: 0, today: shiftDay(first, nights) });
  const requests: number[] = [];
  for (let night = 0; night < nights; night += 1) {
    const { report } = await rig.run({ now: shiftDay(first, night) });
    expect(report).toMatchObject({ exitCode: 0, unitsLeftOut: 0 });
    requests.push(report.requests);
  }
  const [synced = 0, second, third, ...usual] = requests;
  expect([second, third]).toEqual([requestsPerLook(users, days + 1), requestsPerLook(users, days + 2)]);
  expect(second).toBeLessThan(synced / 6);
  const mean = usual.reduce((sum, each) => sum + each, 0) / usual.length;
  expect(Math.abs(mean / requestsPerNight(users, days) - 1)).toBeLessThan(0.15);
});
