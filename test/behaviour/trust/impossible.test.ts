import { describe, expect, test } from 'vitest';
import { contentSha256 } from '../../../schema/digest.ts';
import { columnsOf } from '../../../schema/row.ts';
import { tables, tablesOf } from '../../../schema/tables.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import type { Quirks } from '../../../src/emulator/quirks.ts';
import { readOrganizationIds, readUnits } from '../../../src/ledger/ledger.ts';
import { valuesOfUnit } from '../../../src/ledger/unit-rows.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { afterNights, lie, nights, nightsOf, unitOf } from '../../support/trust/run-nights.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const FIRST = '2026-02-18';
const NIGHT = parseDay('2026-02-20');
/** Pulled in the night before, and again in this one. */
const YOUNG = parseDay('2026-02-18');

/** A column whose values cannot be true, and the stream that sends it. */
const IMPOSSIBLE = [
  ['tokens_daily.billable_tokens', 'tokens'],
  ['tools_daily.autonomy_ratio_p50', 'tools'],
  ['activity_daily.daily_active_users', 'activity'],
  ['activity_daily.weekly_active_users', 'activity'],
  ['activity_daily_by_client.daily_active_users', 'activity'],
  ['activity_daily.user_messages', 'activity'],
  ['user_daily.user_messages', 'users'],
  ['tools_daily_by_tool.invocations', 'tools'],
] as const;

/** Stored values, including those of the day. */
const figures = (rig: Rig, figure: string) => rig.column(`${figure} WHERE date = '${YOUNG}' ORDER BY 1`);

/** What `daywalk status --json` says is open. */
async function openIn(rig: Rig, day: string) {
  const env = { DAYWALK_NOW: `${day}T09:00:00Z` };
  const { stdout } = await daywalkInProcess(['status', '--json', '--warehouse', rig.path], { env });
  const { open, highest } = JSON.parse(stdout).organizations[0];
  return { highest, open };
}

async function quarantineOf(rig: Rig, stream: string) {
  return rig.sql<Record<string, string | null>>(
    'SELECT reason, path, record, accepted_at FROM quarantine WHERE stream = ? ORDER BY path',
    stream,
  );
}

onDatabase(sqlite, () => {
  describe('an answer with impossible values', () => {
    testVariants(IMPOSSIBLE)('%s: its keys are named, their stored rows stay', async (column, stream) => {
      const [table, name] = column.split('.');
      const figure = `SELECT ${name} FROM ${table}`;
      const rig = await afterNights(sqlite, [FIRST, '2026-02-19'], { users: 8 });
      const before = await figures(rig, figure);
      expect(before.length).toBeGreaterThan(0);
      lie(rig, { impossible: { column, days: [YOUNG] } });
      expect((await rig.run({ now: NIGHT })).report).toMatchObject({ exitCode: 5 });
      expect(await figures(rig, figure)).toEqual(before);
      expect(await unitOf(rig, stream, YOUNG)).toMatchObject({ state: 'quarantined', settled_at: null });
      const [named] = await quarantineOf(rig, stream);
      expect(named).toMatchObject({ reason: expect.stringMatching(/^\w+ is .* which is (less|more) than /) });
      lie(rig);
      expect((await rig.run({ now: NIGHT })).report).toMatchObject({ exitCode: 0, restatements: 0 });
      expect(await quarantineOf(rig, stream)).toEqual([]);
    });

    test('stays out of a first sync, and the other keys are stored', async () => {
      const rig = await nightsOf(sqlite, { users: 8 });
      const day = parseDay('2026-02-19');
      const operations = [{ op: 'set' as const, path: '/data/2/tool_calls', value: -3 }];
      rig.emulator.setRules([
        { id: 'one', match: { stream: 'users', day }, action: { type: 'patch', operations } },
      ]);
      expect((await rig.run({ now: NIGHT, settings: { rangeDays: 1 } })).report).toMatchObject({
        exitCode: 5,
        quarantined: 1,
      });
      const stored = await rig.value<number>(`SELECT COUNT(*) FROM user_daily WHERE date = '${day}'`);
      const active = await rig.value<number>(
        `SELECT daily_active_users FROM activity_daily WHERE date = '${day}'`,
      );
      expect(stored).toBe((active ?? 0) - 1);
      expect(await quarantineOf(rig, 'users')).toMatchObject([
        { path: 'data[2]', reason: 'tool_calls is -3, which is less than 0' },
      ]);
      rig.emulator.setRules([]);
      expect((await rig.run({ now: NIGHT, settings: { rangeDays: 1 } })).report).toMatchObject({
        exitCode: 0,
      });
      expect(await rig.value(`SELECT COUNT(*) FROM user_daily WHERE date = '${day}'`)).toBe(active);
    });

    test('settles after seven UTC days of the same answer, and stays named', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await afterNights(sqlite, [FIRST, '2026-02-19'], { users: 8 });
      lie(rig, { impossible: { column: 'tokens_daily.billable_tokens', days: [YOUNG] } });
      const first = await nights(rig, '2026-02-20', '2026-02-22');
      expect(await openIn(rig, '2026-02-22')).toEqual({
        highest: 'impossible',
        open: [
          {
            ...{ state: 'impossible', exitCode: 5, count: 1, firstDay: YOUNG, lastDay: YOUNG },
            ...{ since: expect.stringMatching(/^2026-02-20T/), looks: { soFar: 2, needed: 7 } },
            ...{ endsOn: '2026-02-27', ends: expect.stringContaining('or on 2026-02-27') },
          },
        ],
      });
      const ran = [...first, ...(await nights(rig, '2026-02-23', '2026-03-02'))];
      expect(ran.map(({ report }) => report.exitCode)).toEqual([5, 5, 5, 5, 5, 5, 5, 0, 0, 0, 0]);
      expect(await openIn(rig, '2026-03-02')).toEqual({ highest: null, open: [] });
      expect(await unitOf(rig, 'tokens', YOUNG)).toMatchObject({
        state: 'quarantined',
        confirmed: 'age',
        settled_at: expect.anything(),
      });
      expect(await quarantineOf(rig, 'tokens')).toMatchObject([{ accepted_at: expect.anything() }]);
      expect(await daywalkInProcess(['verify', '--warehouse', rig.path])).toMatchObject({ code: 0 });
      // The watch finds that the answer is possible again.
      lie(rig);
      await nights(rig, '2026-03-03', '2026-03-10');
      expect(await quarantineOf(rig, 'tokens')).toEqual([]);
      expect(await unitOf(rig, 'tokens', YOUNG)).toMatchObject({ state: 'loaded', confirmed: 'data' });
    });

    test('that first came while a clock was a month ahead settles seven UTC days after the next night', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await afterNights(sqlite, [FIRST, '2026-02-19'], { users: 8 });
      lie(rig, { impossible: { column: 'tokens_daily.billable_tokens', days: [YOUNG] } });
      const clock = systemClock(new Date('2026-03-22T03:00:00Z'));
      expect((await rig.run({ now: NIGHT, clock, until: parseDay('2026-02-19') })).report.exitCode).toBe(5);
      const ran = await nights(rig, '2026-02-21', '2026-03-01');
      expect(ran.map(({ report }) => report.exitCode)).toEqual([5, 5, 5, 5, 5, 5, 5, 0, 0]);
      expect(await unitOf(rig, 'tokens', YOUNG)).toMatchObject({ state: 'quarantined', confirmed: 'age' });
    });

    test('of a settled day changes nothing, and is quarantined after three nights', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await afterNights(sqlite, [FIRST, '2026-02-22'], { users: 8 });
      const figure = 'SELECT autonomy_ratio_p50 FROM tools_daily';
      const before = await figures(rig, figure);
      expect(await unitOf(rig, 'tools', YOUNG)).toMatchObject({ confirmed: 'data' });
      lie(rig, { impossible: { column: 'tools_daily.autonomy_ratio_p50', days: [YOUNG] } });
      const ran = await nights(rig, '2026-02-23', '2026-02-25');
      expect(ran.map(({ report }) => report.exitCode)).toEqual([0, 0, 5]);
      expect(await figures(rig, figure)).toEqual(before);
      expect(await quarantineOf(rig, 'tools')).toHaveLength(1);
    });

    testVariants(['numerator', 'denominator'])(
      'the %s of a criterion: the stored criteria of a report stay',
      { tags: 'ci/rare' },
      async (name) => {
        const rig = await afterNights(sqlite, [FIRST, '2026-02-19'], { users: 3, reports: 4 });
        const criteria = () =>
          rig.sql('SELECT * FROM readiness_report_criteria ORDER BY report_id, criterion_id');
        const before = await criteria();
        expect(before.length).toBeGreaterThan(0);
        lie(rig, { impossible: { column: `readiness_report_criteria.${name}` } });
        const force = { command: 'backfill', from: YOUNG, until: YOUNG, force: true, now: NIGHT } as const;
        expect((await rig.run(force)).report).toMatchObject({ exitCode: 5, restatements: 0 });
        expect(await criteria()).toEqual(before);
        const named = await quarantineOf(rig, 'readiness');
        expect(named).toHaveLength(before.length);
        expect(named[0]).toMatchObject({ path: expect.stringMatching(/^reports\[\d+\]\.report\.\w+$/) });
        const later = { ...force, now: shiftDay(NIGHT, 7) };
        expect((await rig.run(later)).report).toMatchObject({ exitCode: 0 });
        expect(await quarantineOf(rig, 'readiness')).toHaveLength(before.length);
      },
    );
  });

  describe('an answer that contradicts itself', () => {
    testVariants([
      ['users', 'SELECT tool_calls FROM user_daily'],
      ['tokens', 'SELECT billable_tokens FROM tokens_daily'],
    ] as const)('%s: the walk is repeated once, then the stored rows stay', async (stream, figure) => {
      const rig = await afterNights(sqlite, [FIRST, '2026-02-19'], { users: 8 });
      const before = await figures(rig, figure);
      lie(rig, { twice: { streams: [stream], days: [YOUNG] } });
      const { report, events } = await rig.run({ now: NIGHT });
      expect(report).toMatchObject({ exitCode: 5 });
      const again = events.filter((event) => event.type === 'looks-again' && event.rule === 'contradiction');
      expect(again).toEqual([{ type: 'looks-again', stream, days: [YOUNG], rule: 'contradiction' }]);
      expect(await figures(rig, figure)).toEqual(before);
      expect(await unitOf(rig, stream, YOUNG)).toMatchObject({ state: 'quarantined', settled_at: null });
      lie(rig);
      expect((await rig.run({ now: NIGHT })).report).toMatchObject({ exitCode: 0, rowsWritten: 0 });
    });
  });
});

/** What a service may honestly do. */
const HONEST: readonly Partial<Quirks>[] = [
  { nullMetrics: 0.3, emptyDays: 'zeros', unknownFields: true },
  { provisionalDays: 5, cacheFields: true, byUser: 'flat', overlappingPages: 'identical', pageSize: 3 },
  { inactiveDays: [YOUNG], newClientType: true, newCriteria: true, nullNumerators: 0.5 },
];

describe('on SQLite', () => {
  testVariants(HONEST)('an honest service is never held: %j', { tags: 'ci/rare' }, async (quirks) => {
    const rig = await createRig({ today: NIGHT, users: 25, reports: 5, quirks }, { database: sqlite });
    for (const night of ['2026-02-17', '2026-02-18']) {
      expect((await rig.run({ now: parseDay(night) })).report.exitCode).toBe(0);
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-02-15') });
    }
    expect(await rig.value('SELECT COUNT(*) FROM quarantine')).toBe(0);
    const { counts } = JSON.parse(
      (await daywalkInProcess(['verify', '--json', '--warehouse', rig.path])).stdout,
    );
    expect(counts).toMatchObject({ impossible: 0, broken: 0 });
  });

  test('rows that an earlier version stored stay, verify names them, and the next answer decides', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNights(sqlite, [FIRST, '2026-02-19'], { users: 8 });
    lie(rig, { impossible: { column: 'tokens_daily.billable_tokens', days: [YOUNG] } });
    await storeAsBefore(rig);
    const verify = await daywalkInProcess(['verify', '--json', '--warehouse', rig.path]);
    const { findings } = JSON.parse(verify.stdout);
    expect(verify.code).toBe(5);
    const what = 'rows that violate tokens_daily.billable_tokens ≥ 0';
    expect(findings).toContainEqual(
      expect.objectContaining({
        severity: 'impossible',
        stream: 'tokens',
        day: YOUNG,
        what,
        expected: 0,
        found: 1,
      }),
    );
    // The answer is as impossible as what is stored.
    expect((await rig.run({ now: NIGHT })).report.exitCode).toBe(5);
    expect(await figures(rig, 'SELECT billable_tokens FROM tokens_daily')).toEqual([-1]);
    lie(rig);
    expect((await rig.run({ now: NIGHT })).report.exitCode).toBe(0);
    expect(await daywalkInProcess(['verify', '--warehouse', rig.path])).toMatchObject({ code: 0 });
  });
});

/** Stores an impossible value with a true digest, as a version without invariants did. */
async function storeAsBefore(rig: Rig): Promise<void> {
  const warehouse = await openWarehouse(rig.path, { clock: systemClock(), create: false });
  try {
    const orgId = (await readOrganizationIds(warehouse)).join('');
    const scope = { orgId, firstDay: YOUNG, lastDay: YOUNG };
    const parts = [];
    for (const table of tablesOf('tokens')) parts.push({ table, rows: await warehouse.rowsOf(table, scope) });
    const [days, ...others] = parts;
    if (days === undefined) throw new Error('tokens have no table');
    const at = columnsOf(days.table).indexOf('billable_tokens');
    const rows = days.rows.map((row) => row.map((value, index) => (index === at ? -1 : value)));
    const changed = [{ table: days.table, rows }, ...others];
    const [unit] = (await readUnits(warehouse, orgId, ['tokens'])).filter(
      (one) => one.kind === 'day' && one.day === YOUNG,
    );
    if (unit === undefined) throw new Error('the day was never pulled');
    const ledger = valuesOfUnit({ ...unit, contentSha256: contentSha256(changed) });
    await changeRows(warehouse, {
      put: [...changed, { table: tables.exportUnits, rows: [ledger] }],
      remove: [],
    });
  } finally {
    await warehouse.close();
  }
}
