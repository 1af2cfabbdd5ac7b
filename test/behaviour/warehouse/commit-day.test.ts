// @module-tag database-specific
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { decodeRows, encodeRows } from '../../../schema/digest.ts';
import type { Values } from '../../../schema/row.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { failUnit, readUnits } from '../../../src/ledger/ledger.ts';
import { countQuarantine } from '../../../src/ledger/quarantine.ts';
import { countRestatements } from '../../../src/ledger/restatements.ts';
import { readRuns, startRun } from '../../../src/records/runs.ts';
import { dayKey, type QuarantinedRecord, unitName } from '../../../src/units/unit.ts';
import { digestOf } from '../../../src/warehouse/digest.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { type CommitSpec, commitDay, commitOf, type RowsByTable } from '../../support/warehouse/commit-of.ts';
import {
  type Found,
  type Held,
  onEachDatabase,
  open,
  type Place,
} from '../../support/warehouse/each-database.ts';

const day = (billable: number | null): Values => [billable, 2, 3, null, 5, null];
const model = (id: string, billable: number | null): Values => [
  id,
  'standard',
  billable,
  1,
  1,
  null,
  null,
  null,
];

const ROWS: RowsByTable = {
  tokens_daily: [day(10)],
  tokens_daily_by_model: [model('m-1', 7), model('m-2', 3)],
};

function record(text: string, reason = 'is wrong'): QuarantinedRecord {
  return { reason, path: 'data[0]', record: JSON.stringify(text), recordSha256: `sha-${text}` };
}

function tokens(place: Place): Promise<Found[]> {
  return place.query('SELECT model_id, billable_tokens FROM tokens_daily_by_model ORDER BY model_id');
}

async function ledger(place: Place): Promise<Found> {
  return (await place.query('SELECT * FROM export_units ORDER BY date'))[0] ?? {};
}

onEachDatabase((database) => {
  describe('the first commit of a day', () => {
    it('stores its rows and the ledger', async () => {
      const warehouse = await open(database);
      const outcome = await commitDay(
        warehouse,
        commitOf({ rows: ROWS, requests: 4, settled: true, pulledAt: '2026-02-04T03:00:00.000Z' }),
      );
      expect(outcome).toMatchObject({ rowsWritten: 3, restated: false });
      expect(await tokens(warehouse.place)).toEqual([
        { model_id: 'm-1', billable_tokens: 7 },
        { model_id: 'm-2', billable_tokens: 3 },
      ]);
      expect(await ledger(warehouse.place)).toEqual({
        org_id: 'org_1',
        stream: 'tokens',
        date: '2026-02-01',
        state: 'loaded',
        rows: 3,
        content_sha256: commitOf({ rows: ROWS }).contentSha256,
        attempts: 1,
        requests: 4,
        first_loaded_at: '2026-02-04T03:00:00.000Z',
        last_pulled_at: '2026-02-04T03:00:00.000Z',
        changed_at: '2026-02-04T03:00:00.000Z',
        settled_at: '2026-02-04T03:00:00.000Z',
        cursor: null,
        last_error: null,
        answers_sha256: null,
        doubted_at: null,
        doubt: null,
        confirmed: 'data',
        run_id: 'run-1',
        active_users: null,
        watch: JSON.stringify({ own: commitOf({ rows: ROWS }).contentSha256 }),
      });
      expect(await countRestatements(warehouse)).toBe(0);
    });

    it('is visible to other readers at once and completely', async () => {
      const warehouse = await open(database);
      expect(await tokens(warehouse.place)).toEqual([]);
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      expect(await tokens(warehouse.place)).toHaveLength(2);
      expect(await readUnits(warehouse, 'org_1')).toHaveLength(1);
    });
  });

  describe('a commit of the same content', () => {
    it('writes no row, and reports that', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: ROWS, pulledAt: '2026-02-02T03:00:00.000Z' }));
      const before = await warehouse.place.query('SELECT * FROM tokens_daily_by_model ORDER BY model_id');
      const outcome = await commitDay(
        warehouse,
        commitOf({ rows: ROWS, settled: true, pulledAt: '2026-02-04T03:00:00.000Z' }),
      );
      expect(outcome).toMatchObject({ rowsWritten: 0, restated: false });
      expect(await warehouse.place.query('SELECT * FROM tokens_daily_by_model ORDER BY model_id')).toEqual(
        before,
      );
      expect(await ledger(warehouse.place)).toMatchObject({
        attempts: 2,
        requests: 2,
        first_loaded_at: '2026-02-02T03:00:00.000Z',
        changed_at: '2026-02-02T03:00:00.000Z',
        last_pulled_at: '2026-02-04T03:00:00.000Z',
        settled_at: '2026-02-04T03:00:00.000Z',
      });
    });
  });

  describe('a commit of changed content', () => {
    it('writes only the rows that differ, deletes missing ones, and adds new ones', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      const changed = { tokens_daily: [day(10)], tokens_daily_by_model: [model('m-2', 4), model('m-3', 6)] };
      // m-1 is deleted, m-2 updated, m-3 inserted; the row of the day is the same.
      expect(await commitDay(warehouse, commitOf({ rows: changed }))).toMatchObject({
        rowsWritten: 3,
        restated: true,
      });
      expect(await tokens(warehouse.place)).toEqual([
        { model_id: 'm-2', billable_tokens: 4 },
        { model_id: 'm-3', billable_tokens: 6 },
      ]);
    });

    it('distinguishes NULL and zero, and numbers and texts in all columns', async () => {
      const warehouse = await open(database);
      for (const value of [null, 0, 0.5, null]) {
        await commitDay(warehouse, commitOf({ rows: { tokens_daily: [day(value)] } }));
        expect(await warehouse.place.query('SELECT billable_tokens FROM tokens_daily')).toEqual([
          { billable_tokens: value },
        ]);
      }
      await commitDay(warehouse, commitOf({ rows: { tokens_daily: [[null, 2, 3, null, 5, '{"a":1}']] } }));
      expect(await warehouse.place.query('SELECT extra FROM tokens_daily')).toEqual([{ extra: '{"a":1}' }]);
    });

    it('leaves no ghost rows when the whole day disappears', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      expect(await commitDay(warehouse, commitOf({ rows: {}, state: 'awaiting' }))).toMatchObject({
        rowsWritten: 3,
        restated: true,
      });
      expect(await tokens(warehouse.place)).toEqual([]);
      expect(await ledger(warehouse.place)).toMatchObject({ state: 'awaiting', rows: 0 });
    });

    it('changes nothing of other days, streams and organizations', async () => {
      const warehouse = await open(database);
      const others: CommitSpec[] = [
        { day: '2026-01-31', rows: ROWS },
        { day: '2026-02-02', rows: ROWS },
        { orgId: 'org_2', rows: ROWS },
        { stream: 'users', rows: { user_daily_languages: [['u', 'Go', null]] } },
      ];
      for (const spec of others) await commitDay(warehouse, commitOf(spec));
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      const count = async (table: string) =>
        (await warehouse.place.query(`SELECT COUNT(*) AS n FROM ${table}`))[0]?.['n'];
      expect(await count('tokens_daily_by_model')).toBe(8);
      await commitDay(warehouse, commitOf({ rows: {} }));
      expect(await count('tokens_daily_by_model')).toBe(6);
      expect(await count('tokens_daily')).toBe(3);
      expect(await count('user_daily_languages')).toBe(1);
    });
  });

  describe('a restatement', () => {
    it('records rows and sums before and after, with the time of the pull', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      const after = { tokens_daily: [day(12)], tokens_daily_by_model: [model('m-1', 12)] };
      await commitDay(warehouse, commitOf({ rows: after, pulledAt: '2026-02-03T03:00:00.000Z' }));
      const [row, ...others] = await warehouse.place.query('SELECT * FROM restatements');
      expect(others).toEqual([]);
      expect(row).toMatchObject({
        org_id: 'org_1',
        stream: 'tokens',
        date: '2026-02-01',
        detected_at: '2026-02-03T03:00:00.000Z',
      });
      expect(JSON.parse(String(row?.['before']))).toMatchObject({
        rows: 3,
        billable_tokens: 10,
        input_tokens: 2,
        cache_read_tokens: null,
        breakdowns: { tokens_daily_by_model: { rows: 2, billable_tokens: 10 } },
      });
      expect(JSON.parse(String(row?.['after']))).toMatchObject({
        rows: 2,
        billable_tokens: 12,
        breakdowns: { tokens_daily_by_model: { rows: 1, billable_tokens: 12 } },
      });
    });

    it('sums no column that must not be summed', async () => {
      const warehouse = await open(database);
      const activity = (sessions: number): CommitSpec => ({
        stream: 'activity',
        rows: { activity_daily: [[5, 6, 7, sessions, 1, 1, null]] },
      });
      await commitDay(warehouse, commitOf(activity(1)));
      await commitDay(warehouse, commitOf(activity(2)));
      const before = JSON.parse(
        String((await warehouse.place.query('SELECT before FROM restatements'))[0]?.['before']),
      );
      expect(before).toMatchObject({ sessions: 1, rows: 1 });
      expect(Object.keys(before)).not.toContain('weekly_active_users');
    });

    it('is not recorded when a late batch fills an awaited day', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: {}, state: 'awaiting' }));
      const outcome = await commitDay(
        warehouse,
        commitOf({ rows: ROWS, pulledAt: '2026-02-03T03:00:00.000Z' }),
      );
      expect(outcome).toMatchObject({ rowsWritten: 3, restated: false });
      expect(await countRestatements(warehouse)).toBe(0);
      expect(await ledger(warehouse.place)).toMatchObject({ first_loaded_at: '2026-02-03T03:00:00.000Z' });
    });

    it('is not recorded after a failure if the content is the same', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      const { pulledAt, rule, ...unit } = commitOf();
      await failUnit(warehouse, {
        unit: dayKey(unit.orgId, unit),
        state: 'failed',
        error: 'x',
        requests: 1,
        pulledAt,
        rule,
      });
      expect(await commitDay(warehouse, commitOf({ rows: ROWS }))).toMatchObject({
        rowsWritten: 0,
        restated: false,
      });
      expect(await ledger(warehouse.place)).toMatchObject({ state: 'loaded', last_error: null, attempts: 3 });
    });

    it('is recorded for each of several in the same millisecond', async () => {
      const warehouse = await open(database);
      for (const billable of [1, 2, 3, 4])
        await commitDay(warehouse, commitOf({ rows: { tokens_daily: [day(billable)] } }));
      expect(await countRestatements(warehouse)).toBe(3);
    });
  });

  describe('the quarantine of a unit', () => {
    const seen = (place: Place) =>
      place.query('SELECT record, first_seen_at FROM quarantine ORDER BY record_sha256');

    it('has what the last pull quarantined; a repeated record keeps the time when it was first seen', async () => {
      const warehouse = await open(database);
      const commit = (records: string[], pulledAt: string) =>
        commitDay(
          warehouse,
          commitOf({ state: 'quarantined', quarantined: records.map((text) => record(text)), pulledAt }),
        );
      await commit(['a', 'b'], '2026-02-02T00:00:00.000Z');
      await commit(['b', 'c'], '2026-02-03T00:00:00.000Z');
      expect(await seen(warehouse.place)).toEqual([
        { record: '"b"', first_seen_at: '2026-02-02T00:00:00.000Z' },
        { record: '"c"', first_seen_at: '2026-02-03T00:00:00.000Z' },
      ]);
      await commit([], '2026-02-04T00:00:00.000Z');
      expect(await seen(warehouse.place)).toEqual([]);
    });

    it('is also replaced when the rows are the same, and only for that unit', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: ROWS, state: 'quarantined', quarantined: [record('a')] }));
      await commitDay(warehouse, commitOf({ day: '2026-02-02', quarantined: [record('b')] }));
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      expect((await seen(warehouse.place)).map(({ record }) => record)).toEqual(['"b"']);
      expect(await ledger(warehouse.place)).toMatchObject({ state: 'loaded' });
    });

    it('is counted by organization, stream and reason', async () => {
      const warehouse = await open(database);
      await commitDay(
        warehouse,
        commitOf({ quarantined: [record('a'), record('b'), record('c', 'is worse')] }),
      );
      await commitDay(warehouse, commitOf({ day: '2026-02-02', quarantined: [record('a')] }));
      await commitDay(warehouse, commitOf({ orgId: 'org_2', stream: 'users', quarantined: [record('a')] }));
      expect(await countQuarantine(warehouse)).toEqual([
        { orgId: 'org_1', stream: 'tokens', reason: 'is worse', records: 1, accepted: 0 },
        { orgId: 'org_1', stream: 'tokens', reason: 'is wrong', records: 3, accepted: 0 },
        { orgId: 'org_2', stream: 'users', reason: 'is wrong', records: 1, accepted: 0 },
      ]);
    });
  });

  describe('drift', () => {
    it('is recorded once per place, with its first sample and the earliest day on which it was seen', async () => {
      const warehouse = await open(database);
      const drift = (unitDay: string, sample: string) =>
        commitDay(
          warehouse,
          commitOf({ day: unitDay, drift: [{ path: 'data[].new', kind: 'unknown field', sample }] }),
        );
      await drift('2026-02-05', '5');
      await drift('2026-02-07', '7');
      await drift('2026-02-03', '3');
      expect(
        await warehouse.place.query('SELECT path, kind, sample, first_seen_on FROM schema_drift'),
      ).toEqual([{ path: 'data[].new', kind: 'unknown field', sample: '5', first_seen_on: '2026-02-03' }]);
    });

    const placesFrom = (first: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({
        path: `data[].f${first + index}`,
        kind: 'unknown field' as const,
        sample: '1',
      }));
    const counted = async (warehouse: Held) => [
      Number(
        (await warehouse.place.query("SELECT COUNT(*) AS n FROM schema_drift WHERE path <> '…'"))[0]?.['n'],
      ),
      ...(await warehouse.place.query("SELECT sample, first_seen_on FROM schema_drift WHERE path = '…'")),
    ];

    it('has at most 500 places a stream and a row that counts the others, which a repetition does not change', async () => {
      const warehouse = await open(database);
      const commit = (unitDay: string, drift: ReturnType<typeof placesFrom>) =>
        commitDay(warehouse, commitOf({ day: unitDay, drift }));
      await commit('2026-02-05', placesFrom(0, 499));
      expect(await counted(warehouse)).toEqual([499]);
      const rest = { sample: 'at least 100 further places', first_seen_on: '2026-02-05' };
      for (let repetition = 0; repetition < 2; repetition += 1) {
        await commit('2026-02-05', placesFrom(0, 600));
        expect(await counted(warehouse)).toEqual([500, rest]);
      }
      await commit('2026-02-03', placesFrom(900, 3));
      expect(await counted(warehouse)).toEqual([500, { ...rest, first_seen_on: '2026-02-03' }]);
      await commit('2026-02-06', placesFrom(900, 150));
      expect(await counted(warehouse)).toEqual([
        500,
        { sample: 'at least 150 further places', first_seen_on: '2026-02-03' },
      ]);
      await commitDay(warehouse, commitOf({ stream: 'users', drift: placesFrom(0, 2) }));
      expect(await counted(warehouse)).toMatchObject([502, {}]);
    });

    it('has at most 500 places if workers commit at once', async () => {
      const warehouse = await open(database);
      const other = await openWarehouse(warehouse.place.location, { clock: systemClock(), create: false });
      onTestFinished(() => other.close());
      const days = Array.from({ length: 8 }, (_, index) => `2026-02-1${index}`);
      await Promise.all(
        days.map((day, index) =>
          commitDay(
            index % 2 === 0 ? warehouse : other,
            commitOf({ day, drift: placesFrom(index * 100, 100) }),
          ),
        ),
      );
      const [places, rest] = await counted(warehouse);
      expect(places).toBe(500);
      expect(rest).toMatchObject({ sample: 'at least 100 further places' });
    });

    it('has bounded paths, whatever the service calls its fields', async () => {
      const warehouse = await open(database);
      const path = `data[].${'x'.repeat(200_000)}`;
      for (let repetition = 0; repetition < 2; repetition += 1)
        await commitDay(warehouse, commitOf({ drift: [{ path, kind: 'unknown field', sample: '1' }] }));
      const [row, ...others] = await warehouse.place.query<{ path: string }>('SELECT path FROM schema_drift');
      expect(others).toEqual([]);
      expect(row?.path).toHaveLength(300);
    });
  });

  describe('a commit that fails midway', () => {
    it.each<[string, Parameters<typeof commitOf>[0]]>([
      [
        'in the rows of a later table',
        { rows: { ...ROWS, tokens_daily_by_user: [['u', null, 1, 1, 1, 1, 1, null]] } },
      ],
      [
        'in the quarantine',
        { rows: ROWS, quarantined: [{ ...record('a'), reason: null as unknown as string }] },
      ],
      [
        'in the drift',
        { rows: ROWS, drift: [{ path: 'x', kind: null as unknown as 'new value', sample: 'x' }] },
      ],
      ['in the ledger', { rows: ROWS, state: null as unknown as 'loaded' }],
    ])('leaves nothing behind: %s', async (_, spec) => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: { tokens_daily: [day(1)] } }));
      const before = await digestOf(warehouse);
      const unit = await ledger(warehouse.place);
      const broken = commitOf(spec);
      // A row that lacks a column.
      const tables = broken.tables.map(decodeRows).map(({ table, rows }) => {
        const cut = table.name === 'tokens_daily_by_user' ? rows.map((row) => row.slice(1)) : rows;
        return encodeRows({ table, rows: cut });
      });
      expect(await thrownBy(commitDay(warehouse, { ...broken, tables }))).toBeInstanceOf(Error);
      expect(await digestOf(warehouse)).toEqual(before);
      expect(await ledger(warehouse.place)).toEqual(unit);
      expect(await warehouse.place.query('SELECT * FROM restatements')).toEqual([]);
      // The warehouse still works afterwards.
      expect(await commitDay(warehouse, commitOf({ rows: ROWS }))).toMatchObject({ restated: true });
    });
  });

  describe('simultaneous commits', () => {
    it('are all stored, one after the other', { tags: 'ci/variant' }, async () => {
      const warehouse = await open(database);
      const days = Array.from({ length: 20 }, (_, n) => `2026-02-${String(n + 1).padStart(2, '0')}`);
      const { pulledAt, rule } = commitOf();
      await Promise.all([
        ...days.map((unitDay) => commitDay(warehouse, commitOf({ day: unitDay, rows: ROWS }))),
        ...days.map((unitDay) =>
          failUnit(warehouse, {
            unit: dayKey('org_1', commitOf({ day: unitDay, stream: 'users' })),
            rule,
            state: 'failed',
            error: 'x',
            requests: 1,
            pulledAt,
          }),
        ),
        startRun(warehouse, { runId: 'r', command: 'run', startedAt: pulledAt, versions: {} }),
      ]);
      const units = await readUnits(warehouse, 'org_1');
      expect(units.filter(({ state }) => state === 'loaded')).toHaveLength(20);
      expect(units.filter(({ state }) => state === 'failed')).toHaveLength(20);
      expect(await readRuns(warehouse, 5)).toHaveLength(1);
    });
  });

  describe('any sequence of commits', () => {
    const content = fc.array(
      fc.tuple(fc.constantFrom('m-1', 'm-2', 'm-3', '\u{1F600}', '\uE000'), fc.option(fc.nat(5))),
      { maxLength: 4 },
    );
    const commits = fc.array(fc.tuple(fc.constantFrom('2026-02-01', '2026-02-02', '2026-02-03'), content), {
      maxLength: 12,
    });

    it('leaves the last content of each day, and the digest of a warehouse with only that content', {
      tags: 'ci/again',
    }, async () => {
      const [sequential, fresh] = [await open(database), await open(database)];
      let orgs = 0;
      await fc.assert(
        fc.asyncProperty(commits, async (list) => {
          const orgId = `org_${++orgs}`;
          const last = new Map<string, RowsByTable>();
          for (const [day, models] of list) {
            const rows = {
              tokens_daily_by_model: [...new Map(models)].map(([id, billable]) => model(id, billable)),
            };
            await commitDay(sequential, commitOf({ orgId, day, rows }));
            last.set(day, rows);
          }
          for (const [day, rows] of last) await commitDay(fresh, commitOf({ orgId, day, rows }));
          expect(await digestOf(sequential)).toEqual(await digestOf(fresh));
          const digests = async (warehouse: typeof sequential) =>
            (await readUnits(warehouse, orgId)).map((unit) => [
              unitName(unit),
              unit.contentSha256,
              unit.rows,
            ]);
          expect((await digests(sequential)).toSorted()).toEqual((await digests(fresh)).toSorted());
        }),
        { numRuns: 12 },
      );
    });
  });
});
