import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readStatus } from '../../../jobs/status.ts';
import { renderStatus } from '../../../src/cli/actions/status.ts';
import { createStyle } from '../../../src/cli/output/terminal.ts';
import { widthOf } from '../../../src/cli/screens/text.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';

const NOW = '2026-02-10T09:00:00Z';
const statusOf = (rig: Rig, now = NOW) => readStatus(rig.settings, { clock: systemClock(new Date(now)) });

const failing = (stream: string, day: string) => ({
  match: { stream, day },
  action: { type: 'status', status: 500 },
});
const withoutId = (day: string) => ({
  match: { stream: 'users', day },
  action: { type: 'patch', operations: [{ op: 'remove', path: '/data/0/user_id' }] },
});

/** A warehouse in which days are missing, failed, awaited, quarantined, unsettled and settled. */
async function troubledRig(): Promise<Rig> {
  const rules = parseRules([
    failing('tools', '2026-02-03'),
    failing('tools', '2026-02-04'),
    withoutId('2026-02-05'),
  ]);
  const rig = await createRig({ rules, quirks: { lateBatch: true } });
  // History settles on the third night.
  for (const night of ['2026-02-08', '2026-02-09', '2026-02-10'])
    await rig.run({ now: parseDay(night), from: parseDay('2026-01-20'), settings: { attempts: 1 } });
  return rig;
}

/** Its status, which tests only read. */
let seen: ReturnType<typeof statusOf> | undefined;
function troubledStatus(): ReturnType<typeof statusOf> {
  seen ??= troubledRig().then((rig) => statusOf(rig));
  return seen;
}

describe('status', () => {
  test('reports every hole as a range, and the worst state of each day', async () => {
    const status = await troubledStatus();
    const [organization] = status.organizations;
    const holes = organization?.holes.map(({ state, firstDay, lastDay, days, streams }) =>
      [state, firstDay, lastDay, days, streams.length].join(' '),
    );
    expect(holes).toEqual([
      'pending 2026-01-14 2026-01-19 6 5',
      'failed 2026-02-03 2026-02-04 2 1',
      'quarantined 2026-02-05 2026-02-05 1 1',
      'awaiting 2026-02-09 2026-02-09 1 5',
    ]);
    const stateOn = (day: string) => organization?.days.find((entry) => entry.day === day)?.state;
    expect(
      ['2026-01-19', '2026-01-20', '2026-02-03', '2026-02-05', '2026-02-08', '2026-02-09'].map(stateOn),
    ).toEqual([...['pending', 'settled', 'failed', 'quarantined', 'unsettled', 'awaiting']]);
    expect(organization).toMatchObject({ oldestUnsettledDay: '2026-01-14' });
    expect(organization?.days).toHaveLength(27);
    expect(organization?.lastErrors.map(({ stream, day }) => `${stream} ${day}`)).toContain(
      'tools 2026-02-03',
    );
    expect(status.quarantine).toMatchObject([{ stream: 'users', records: 1 }]);
  });

  test('counts units by stream and state so that each stream adds up to its days', async () => {
    const status = await troubledStatus();
    for (const { stream, units } of status.organizations[0]?.streams ?? []) {
      const sum = Object.values(units).reduce((total, count) => total + count, 0);
      expect([stream, sum]).toEqual([stream, stream === 'readiness' ? 1 : 27]);
    }
  });

  test('reports a day that was never pulled, even if all pulled days are fine', async () => {
    const rig = await exportedRig();
    const later = await statusOf(rig, '2026-02-14T09:00:00Z');
    expect(later.organizations[0]?.holes).toMatchObject([
      { state: 'pending', firstDay: '2026-02-10', lastDay: '2026-02-13', days: 4 },
    ]);
  });

  test('reports when the last complete run ended, whatever failed since', async () => {
    const rig = await exportedRig();
    await rig.run({ now: parseDay('2026-02-12'), settings: { apiKey: 'wrong' } });
    const status = await statusOf(rig, '2026-02-12T04:00:00Z');
    expect(status.runs.map(({ exitCode }) => exitCode)).toEqual([3, 0]);
    expect(status.lastCompleteRunAt).toBe('2026-02-10T03:00:00.000Z');
    expect(status.lastCompleteRunAgeMs).toBe(49 * 3_600_000);
  });

  test('does not count a backfill as a nightly run', async () => {
    const rig = await createRig();
    const day = parseDay('2026-02-01');
    const { report } = await rig.run({ command: 'backfill', from: day, until: day });
    expect(report.exitCode).toBe(0);
    expect((await statusOf(rig)).lastCompleteRunAt).toBeNull();
  });

  test.each([40, 80, 200])('fits %i cells and shows all important facts', async (width) => {
    const status = await troubledStatus();
    const frame = { width, style: createStyle(false), isTerminal: true, redact: String };
    const lines = renderStatus(status, frame);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
    const text = lines.join('\n');
    expect(text).toContain('Holes');
    expect(text).toContain('F failed');
    expect(text).toMatch(/2026-01-14 to 2026-01-19/);
    expect(text).toContain('Why units failed');
    expect(text).toContain('Quarantine');
    expect(text).toContain('Last runs');
  });
});

describe('daywalk status', () => {
  test('of a missing warehouse is a usage error, and does not create one', async () => {
    const path = join(tempDir(), 'nowhere.db');
    const { code, stderr } = await daywalkInProcess(['status', '--warehouse', path]);
    expect(code).toBe(2);
    expect(stderr).toContain(path);
    expect(stderr).toMatch(/^hint: /m);
    expect(existsSync(path)).toBe(false);
  });

  test('shows schema drift, and the newest day with data per stream', { tags: 'ci/rare' }, async () => {
    const rig = await createRig({
      quirks: {
        unknownFields: true,
        lies: { lateDays: { tools: [parseDay('2026-02-08'), parseDay('2026-02-09')] } },
      },
    });
    await rig.run();
    const [organization] = (await statusOf(rig)).organizations;
    const newest = organization?.streams.map(({ stream, newestDataDay }) => [stream, newestDataDay]);
    expect(newest).toEqual([
      ['tokens', '2026-02-09'],
      ['tools', '2026-02-07'],
      ['activity', '2026-02-09'],
      ['productivity', '2026-02-09'],
      ['users', '2026-02-09'],
      ['readiness', null],
    ]);
    const stored = await rig.value<number>('SELECT COUNT(*) FROM schema_drift');
    expect(organization?.schemaDrift.places).toBe(stored);
    expect(stored).toBeGreaterThan(5);
    const { stdout } = await daywalkInProcess(['status'], { env: envOf(rig) });
    expect(stdout).toMatch(/^tools +2026-02-07 /m);
    expect(stdout).toContain('Schema drift');
    expect(stdout).toMatch(/unknown field +2026-0\d-\d\d +\S+/);
    expect(stdout).toContain(`and ${Number(stored) - 5} more`);
  });

  test('prints everything as JSON, and no calendar without a terminal', async () => {
    const rig = await exportedRig();
    const { code, stdout } = await daywalkInProcess(['status', '--json'], { env: envOf(rig) });
    expect(code).toBe(0);
    const status = await statusOf(rig, '2026-02-10T03:00:00Z');
    const organizations = status.organizations.map((organization) => ({
      ...organization,
      open: organization.open.map((open) => ({
        ...open,
        ends: expect.stringMatching(/^ends on 2026-02-12/),
      })),
    }));
    expect(JSON.parse(stdout)).toEqual({ ...JSON.parse(JSON.stringify(status)), organizations });
    const table = await daywalkInProcess(['status'], { env: envOf(rig) });
    expect(table.stdout).toContain('STREAM');
    expect(table.stdout).not.toContain('■');
  });

  testVariants([
    ['2026-02-11T04:59:59Z', 0],
    ['2026-02-11T05:00:00Z', 0],
    ['2026-02-11T05:00:01Z', 4],
  ])('with --max-age 26, after a run at 03:00, exits at %s with code %i', async (now, code) => {
    const rig = await createRig();
    await rig.run({ from: parseDay('2026-02-08') });
    const ended = await daywalk(['status', '--max-age', '26'], { env: envOf(rig, { DAYWALK_NOW: now }) });
    expect(ended.code).toBe(code);
    if (code !== 0)
      expect(ended.stderr).toContain('the last complete run ended 26 hours ago, more than 26 hours');
  });

  test('with --max-age exits with 4 while no run was complete', async () => {
    const rig = await createRig({ rules: parseRules([failing('tools', '2026-02-03')]) });
    await rig.run({ from: parseDay('2026-02-03'), settings: { attempts: 1 } });
    const { code, stderr } = await daywalkInProcess(['status', '--max-age', '26'], { env: envOf(rig) });
    expect(code).toBe(4);
    expect(stderr).toContain('no complete run is on record');
  });
});
