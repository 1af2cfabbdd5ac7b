// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { readStatus } from '../../../jobs/status.ts';
import { KINDS } from '../../../schema/define.ts';
import type { Values } from '../../../schema/row.ts';
import { allViews } from '../../../schema/views.ts';
import { FIRST_DAY, parseDay, shiftDay, yesterdayOf } from '../../../src/core/day.ts';
import { failUnit } from '../../../src/ledger/ledger.ts';
import { commitReadinessPage } from '../../../src/ledger/readiness.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import { dayKey } from '../../../src/units/unit.ts';
import { contextOf, createRig } from '../../support/rig/rig.ts';
import { commitDay, commitOf, type RowsByTable, tablesOfUnit } from '../../support/warehouse/commit-of.ts';
import { type Database, onDatabase, onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

/** A user_daily row after user_id: email, then metrics that stand out. */
function user(id: string, email: string | null, tokens: number | null, tools = 1): Values {
  return [
    id,
    email,
    tools,
    tokens,
    'm-1',
    'standard',
    1,
    2,
    3,
    4,
    0,
    0,
    0,
    0,
    5,
    8,
    4,
    4,
    1.5,
    'manual',
    null,
  ];
}

const STREAMS: Readonly<Record<string, RowsByTable>> = {
  tokens: {
    tokens_daily: [[100, 70, 30, null, 0, null]],
    tokens_daily_by_model: [
      ['m-1', 'standard', 75, 50, 25, 0, 0, null],
      ['m-2', 'thinking', 25, 20, 5, 0, 0, null],
      ['m-3', null, null, null, null, null, null, null],
    ],
  },
  tools: { tools_daily: [[50, 2, 3, 4, 5, 6, 1.5, 1, 3, 4, 5, 0.1, 0.2, 0.3, 0.4, null]] },
  activity: { activity_daily: [[7, 9, 12, 20, 60, 30, null]] },
  productivity: { productivity_daily: [[1, 2, 3, 4, null]] },
  users: { user_daily: [user('u-1', 'old@example.com', 60), user('u-2', null, null)] },
};

async function filled(database: Database) {
  const warehouse = await open(database);
  for (const [stream, rows] of Object.entries(STREAMS)) {
    await commitDay(
      warehouse,
      commitOf({ stream: stream as 'tokens', day: '2026-02-01', rows, settled: true }),
    );
  }
  await commitDay(
    warehouse,
    commitOf({
      stream: 'users',
      day: '2026-02-03',
      rows: { user_daily: [user('u-1', 'new@example.com', 5), user('u-2', null, 7)] },
    }),
  );
  await commitDay(
    warehouse,
    commitOf({
      stream: 'tokens',
      day: '2026-02-03',
      orgId: 'org_2',
      rows: { tokens_daily: [[1, 1, 0, 0, 0, null]] },
    }),
  );
  await failUnit(warehouse, {
    unit: dayKey('org_1', { stream: 'tools', day: shiftDay(FIRST_DAY, 1) }),
    state: 'failed',
    error: 'answered 500',
    requests: 6,
    pulledAt: new Date('2026-02-02T00:00:00Z'),
    rule: commitOf().rule,
  });
  return warehouse;
}

describe('a view', () => {
  it.each(allViews)(
    '$name says whether its numbers may be summed, and describes each column',
    ({ doc, columns }) => {
      for (const { kind, additive, doc: meaning } of Object.values(columns)) {
        expect(meaning).toMatch(/\S/);
        expect(typeof additive === 'boolean').toBe(kind === 'metric');
      }
      expect(doc).toMatch(/\S/);
    },
  );
});

onDatabase(postgres, () => {
  it('the columns of every view have their documented types', async () => {
    const relations = await (await open(postgres)).place.relations();
    for (const { name, columns } of allViews) {
      const relation = relations.find((each) => each.name === name);
      expect(
        relation?.columns.map((column) => column.type.replace(' COLLATE "C"', '')),
        name,
      ).toEqual(
        Object.values(columns).map(({ kind }) =>
          KINDS[kind].postgres.replace('timestamptz', 'timestamp with time zone'),
        ),
      );
    }
  });
});

onEachDatabase((database) => {
  describe('every view', () => {
    it('has its declared columns, and no rows on an empty database', async () => {
      const { place } = await open(database);
      const relations = await place.relations();
      for (const { name, columns } of allViews) {
        expect(await place.query(`SELECT * FROM "${name}"`), name).toEqual([]);
        const relation = relations.find((each) => each.name === name);
        expect(
          relation?.columns.map((column) => column.name),
          name,
        ).toEqual(Object.keys(columns));
      }
    });
  });

  describe('daily_overview', () => {
    it('has one row per organization and day, with the headline numbers of all streams', async () => {
      const { place } = await filled(database);
      const rows = await place.query('SELECT * FROM daily_overview ORDER BY org_id, date');
      expect(rows.map(({ org_id, date }) => `${org_id} ${date}`)).toEqual([
        'org_1 2026-01-15',
        'org_1 2026-02-01',
        'org_1 2026-02-03',
        'org_2 2026-02-03',
      ]);
      expect(rows[1]).toMatchObject({
        billable_tokens: 100,
        daily_active_users: 7,
        monthly_active_users: 12,
        sessions: 20,
        tool_calls: 50,
        git_prs_created: 4,
        users: 2,
        streams_held: 5,
        is_settled: 1,
      });
      expect(rows[2]).toMatchObject({ billable_tokens: null, users: 2, streams_held: 1, is_settled: 0 });
    });

    it('shows a hole: a failed day has no stream', async () => {
      const { place } = await filled(database);
      const [row] = await place.query(
        "SELECT streams_held, tool_calls FROM daily_overview WHERE date = '2026-01-15'",
      );
      expect(row).toEqual({ streams_held: 0, tool_calls: null });
    });

    it('and the other views call days stored and settled as metrics do', { tags: 'ci/variant' }, async () => {
      const rig = await createRig({ users: 15, reports: 0, today: '2026-02-10' }, { database });
      await rig.run();
      const held =
        'SELECT MIN(streams_held) AS least, SUM(CAST(is_settled AS integer)) AS settled FROM daily_overview';
      // Days without activity have been seen once: they are stored, and wait for nothing but further looks.
      expect(await rig.sql(held)).toEqual([{ least: 5, settled: 0 }]);
      expect(await rig.sql('SELECT date FROM cost_daily WHERE billable_tokens IS NULL')).toEqual([]);
      const weeks =
        "SELECT SUM(days_expected - days_held) AS lacking FROM weekly_overview WHERE week_start < '2026-02-09'";
      expect(await rig.sql(weeks)).toEqual([{ lacking: 0 }]);
      // What settled by its age alone was never confirmed, and a doubt keeps the rows of a day.
      await rig.place.execute("UPDATE export_units SET settled_at = last_pulled_at, confirmed = 'age'");
      await rig.place.execute("UPDATE export_units SET state = 'doubted' WHERE date = '2026-01-14'");
      expect(await rig.sql(held)).toEqual([{ least: 5, settled: 0 }]);
      const { organizations } = await readStatus(rig.settings, contextOf(rig.today));
      expect(organizations[0]?.streams.map(({ settled }) => settled)).toEqual([0, 0, 0, 0, 0, 0]);
      expect(organizations[0]?.days.some(({ state }) => state === 'settled')).toBe(false);
    });

    it('and metrics know nothing of a day of which every record is in quarantine', async () => {
      const rig = await createRig({ users: 15, reports: 0, today: '2026-02-10' }, { database });
      const day = parseDay('2026-02-03');
      rig.emulator.setQuirks({ lies: { impossible: { column: 'user_daily.sessions', days: [day] } } });
      await rig.run();
      const unit = "SELECT state, rows FROM export_units WHERE stream = 'users' AND date = '2026-02-03'";
      expect(await rig.sql(unit)).toEqual([{ state: 'quarantined', rows: 0 }]);
      expect(await rig.sql('SELECT streams_held FROM daily_overview WHERE date = ?', day)).toEqual([
        { streams_held: 4 },
      ]);
      expect(await rig.column('SELECT date FROM cost_daily WHERE billable_tokens IS NULL')).toEqual([day]);
      const asked = { orgId: rig.emulator.orgId, from: shiftDay(day, -1), until: day, by: ['date'] } as const;
      const warehouse = await open(rig.place);
      const { rows, days } = await answerMetric(warehouse, { metric: 'billable_tokens', ...asked });
      expect(rows[1]).toEqual({ date: day, value: null });
      expect(days.missing).toEqual([day]);
    });
  });

  describe('model_mix', () => {
    it('gives each model its share of the day, or NULL if nothing is known', async () => {
      const { place } = await filled(database);
      expect(await place.query('SELECT model_id, share FROM model_mix ORDER BY model_id')).toEqual([
        { model_id: 'm-1', share: 0.75 },
        { model_id: 'm-2', share: 0.25 },
        { model_id: 'm-3', share: null },
      ]);
    });
  });

  describe('readiness_latest', () => {
    it('has the latest report of each repository with its score over evaluated criteria', async () => {
      const warehouse = await open(database);
      const report = (id: string, at: string, repo: string): Values => [
        id,
        at,
        repo,
        null,
        'main',
        0,
        0,
        'm-1',
        'low',
        '1.0',
        null,
      ];
      const tables = tablesOfUnit('readiness', ['org_1'], {
        readiness_reports: [
          report('r-1', '2026-02-01T00:00:00.000Z', 'repo a'),
          report('r-2', '2026-02-02T00:00:00.000Z', 'repo a'),
          report('r-3', '2026-01-20T00:00:00.000Z', 'repo b'),
        ],
        readiness_report_criteria: [
          ['r-1', 'formatter', 0, 1, 'no', null],
          ['r-2', 'formatter', 1, 1, 'yes', null],
          ['r-2', 'readme', 1, 2, 'half', null],
          ['r-2', 'skipped', null, 1, 'n/a', null],
        ],
      });
      await commitReadinessPage(warehouse, {
        orgId: 'org_1',
        tables,
        cursor: '{}',
        quarantined: [],
        drift: [],
        requests: 1,
        pulledAt: new Date(),
        runId: 'run-1',
      });
      expect(await warehouse.place.query('SELECT * FROM readiness_latest ORDER BY repo_url')).toMatchObject([
        {
          repo_url: 'repo a',
          report_id: 'r-2',
          criteria: 3,
          criteria_evaluated: 2,
          criteria_passed: 1,
          score: 0.75,
        },
        {
          repo_url: 'repo b',
          report_id: 'r-3',
          criteria: 0,
          criteria_evaluated: 0,
          criteria_passed: 0,
          score: null,
        },
      ]);
    });
  });

  describe('coverage', () => {
    const coverage = async () => (await filled(database)).place.query('SELECT * FROM coverage');

    it('has every organization, daily stream and calendar day from the first day on, each once', async () => {
      const rows = await coverage();
      const names = rows.map(({ org_id, stream, date }) => `${org_id} ${stream} ${date}`);
      expect(new Set(names).size).toBe(names.length);
      const days = new Set(rows.map(({ date }) => String(date)));
      expect(names).toHaveLength(days.size * 5 * 2);
      expect([...days].toSorted().at(0)).toBe(FIRST_DAY);
    });

    it('reaches yesterday and the newest unit, even if nothing was pulled since', async () => {
      const before = yesterdayOf(new Date());
      const rows = await coverage();
      const last =
        rows
          .map(({ date }) => String(date))
          .toSorted()
          .at(-1) ?? '';
      // Midnight may pass in between.
      const yesterdays = [before, yesterdayOf(new Date())];
      expect(yesterdays.map((day) => (day > '2026-02-03' ? day : '2026-02-03'))).toContain(last);
    });

    it('shows days that were never pulled as pending, failures with their error', async () => {
      const rows = await coverage();
      const of = (date: string, stream: string) =>
        rows.find((row) => row['org_id'] === 'org_1' && row['date'] === date && row['stream'] === stream);
      expect(of('2026-01-14', 'tokens')).toMatchObject({ state: 'pending', rows: 0, last_pulled_at: null });
      expect(of('2026-01-15', 'tools')).toMatchObject({ state: 'failed', last_error: 'answered 500' });
      expect(of('2026-02-01', 'tokens')).toMatchObject({
        state: 'loaded',
        rows: 4,
        settled_at: '2026-02-02T03:00:00.000Z',
      });
    });
  });
});
