import { readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MEASURED } from '../../../bench/scaling/measured.ts';
import { ACTIVE_A_DAY, ORGANIZATION } from '../../../bench/support/answering.ts';
import { DEMO_ORGANIZATION } from '../../../jobs/demo.ts';
import { allViews } from '../../../schema/views.ts';
import { DEMO_DAY, questionsPage } from '../../../scripts/questions-page.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { FIRST_DAY, parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { resolveOptions } from '../../../src/emulator/options.ts';
import { createRig } from '../../support/rig/rig.ts';

const page = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const README = page('README.md').replaceAll(/\s+/g, ' ');

describe('README.md', () => {
  test('names views that exist, and docs/warehouse.md names every view', () => {
    const names = allViews.map(({ name }) => name);
    const [, listed = ''] = /Views for BI tools are among others (.*?)\./.exec(README) ?? [];
    const shown = [...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(shown.length).toBeGreaterThan(2);
    expect(names).toEqual(expect.arrayContaining(shown));
    for (const name of names) expect(page('docs/warehouse.md')).toContain(`\`${name}\``);
  });

  test('states the measured storage per user and day', () => {
    const { perDay, perUserDay } = MEASURED.sqliteBytes;
    expect(README).toContain(`about ${(perUserDay / 1_000).toFixed(2)} KB per active user and day`);
    expect(README).toContain(`plus ${Math.round(perDay / 1_000)} KB a day for the organization`);
  });

  test('states what a night and the history of the demo really cost, and docs/questions.md has its answers', {
    tags: 'ci/upkeep',
  }, async () => {
    const today = parseDay(DEMO_DAY);
    const rig = await createRig({ ...DEMO_ORGANIZATION, today });
    const nightOf = (day: UtcDay) => rig.run({ now: day, settings: { watchDays: 31 } });
    // As the demo does: the service stays at its day, and three nights lead up to it.
    const history = await nightOf(shiftDay(today, -2));
    const second = await nightOf(shiftDay(today, -1));
    await nightOf(today);
    const megabytes = statSync(rig.path).size / 1e6;
    const questions = await questionsPage(rig.settings, systemClock(new Date(`${today}T03:00:00Z`)));
    expect(page('docs/questions.md'), 'run npm run docs:questions').toBe(questions);
    const tomorrow = shiftDay(today, 1);
    rig.emulator.setToday(tomorrow);
    const night = await nightOf(tomorrow);
    const stated = (pattern: RegExp) => Number(pattern.exec(README)?.[1]);
    // How a range is cut depends on how fast answers come, by a request or two.
    expect(Math.abs(stated(/takes (\d+) requests\. Its whole history/) - night.report.requests)).toBeLessThan(
      3,
    );
    expect(
      Math.abs(stated(/whole history of ten months takes (\d+) requests/) / history.report.requests - 1),
    ).toBeLessThan(0.15);
    expect(
      Math.abs(stated(/In each of the next two nights, (\d+) requests/) / second.report.requests - 1),
    ).toBeLessThan(0.15);
    expect(Math.abs(stated(/needs (\d+) MB in SQLite/) / megabytes - 1)).toBeLessThan(0.05);
  });
});

test('docs/performance.md says how many people of its organization are active', {
  tags: 'ci/upkeep',
}, async () => {
  const { users, days, steady } = ORGANIZATION;
  const rig = await createRig({ users, steady, reports: 0, today: shiftDay(FIRST_DAY, days) });
  await rig.run({ from: FIRST_DAY, until: shiftDay(FIRST_DAY, days - 1), streams: ['activity'] });
  const active = await rig.column<number>('SELECT daily_active_users FROM activity_daily');
  const sum = active.reduce((total, each) => total + each, 0);
  expect(active).toHaveLength(days);
  expect(Math.round(sum / days)).toBe(ACTIVE_A_DAY);
  const said = page('docs/performance.md');
  expect(said).toContain(`${ACTIVE_A_DAY} of them are active on an average day`);
  expect(said).toContain(`${Math.max(...active).toLocaleString('en')} on the busiest`);
  expect(said).toContain(`${sum.toLocaleString('en')} user-days`);
});

test('docs/emulator.md states the defaults of the flags', () => {
  const { seed, users, reports, port, latencyMs } = resolveOptions({ today: '2026-03-01' });
  const flags = { '--port N': port, '--seed N': seed, '--users N': users, '--reports N': reports };
  for (const [flag, value] of Object.entries({ ...flags, '--latency-ms N': latencyMs })) {
    expect(page('docs/emulator.md')).toContain(`| \`${flag}\` | ${value} |`);
  }
});
