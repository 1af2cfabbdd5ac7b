import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../jobs/digest.ts';
import type { QuarantinedRecord, Row } from '../../src/warehouse/port.ts';
import { type CommitSpec, commitOf, type RowsByTable } from '../support/commit-of.ts';
import { thrownBy } from '../support/transport.ts';
import { openTemporary, query } from '../support/warehouse.ts';

const day = (billable: number | null): Row => [billable, 2, 3, null, 5, null];
const model = (id: string, billable: number | null): Row => [
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
  return { reason, path: 'data[0]', record: text, recordSha256: `sha-${text}` };
}

/** The file and its log: what a commit wrote shows in either. */
function bytesOf(path: string): string {
  return readFileSync(path, 'base64') + readFileSync(`${path}-wal`, 'base64');
}

function tokens(path: string): Record<string, unknown>[] {
  return query(path, 'SELECT model_id, billable_tokens FROM tokens_daily_by_model ORDER BY model_id');
}

function ledger(path: string): Record<string, unknown> {
  return query(path, 'SELECT * FROM export_units')[0] ?? {};
}

describe('the first commit of a day', () => {
  it('stores its rows and the ledger', async () => {
    const warehouse = await openTemporary();
    const outcome = await warehouse.commitDay(
      commitOf({ rows: ROWS, requests: 4, settled: true, pulledAt: '2026-02-04T03:00:00.000Z' }),
    );
    expect(outcome).toEqual({ rowsWritten: 3, restated: false });
    expect(tokens(warehouse.path)).toEqual([
      { model_id: 'm-1', billable_tokens: 7 },
      { model_id: 'm-2', billable_tokens: 3 },
    ]);
    expect(ledger(warehouse.path)).toEqual({
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
    });
    expect(await warehouse.restatementCount()).toBe(0);
  });

  it('is at once what other readers see, and all of it', async () => {
    const warehouse = await openTemporary();
    expect(tokens(warehouse.path)).toEqual([]);
    await warehouse.commitDay(commitOf({ rows: ROWS }));
    expect(tokens(warehouse.path)).toHaveLength(2);
    expect(await warehouse.units('org_1')).toHaveLength(1);
  });
});

describe('a commit of the same content', () => {
  it('writes no row, and says so', async () => {
    const warehouse = await openTemporary();
    await warehouse.commitDay(commitOf({ rows: ROWS, pulledAt: '2026-02-02T03:00:00.000Z' }));
    const before = query(warehouse.path, 'SELECT * FROM tokens_daily_by_model');
    const outcome = await warehouse.commitDay(
      commitOf({ rows: ROWS, settled: true, pulledAt: '2026-02-04T03:00:00.000Z' }),
    );
    expect(outcome).toEqual({ rowsWritten: 0, restated: false });
    expect(query(warehouse.path, 'SELECT * FROM tokens_daily_by_model')).toEqual(before);
    expect(ledger(warehouse.path)).toMatchObject({
      attempts: 2,
      requests: 2,
      first_loaded_at: '2026-02-02T03:00:00.000Z',
      changed_at: '2026-02-02T03:00:00.000Z',
      last_pulled_at: '2026-02-04T03:00:00.000Z',
      settled_at: '2026-02-04T03:00:00.000Z',
    });
  });

  it('touches no page of a fact table: of many rows, only the ledger is written', async () => {
    const warehouse = await openTemporary();
    const rows = { tokens_daily_by_model: Array.from({ length: 3000 }, (_, n) => model(`model ${n}`, n)) };
    await warehouse.commitDay(commitOf({ rows }));
    const before = bytesOf(warehouse.path).length;
    await warehouse.commitDay(commitOf({ rows, pulledAt: '2026-02-03T03:00:00.000Z' }));
    // A few pages of the ledger; the rows are hundreds of kilobytes.
    expect(bytesOf(warehouse.path).length - before).toBeLessThan(40_000);
  });
});

describe('a commit of changed content', () => {
  it('writes only the rows that differ, deletes those that are gone, and adds new ones', async () => {
    const warehouse = await openTemporary();
    await warehouse.commitDay(commitOf({ rows: ROWS }));
    const changed = { tokens_daily: [day(10)], tokens_daily_by_model: [model('m-2', 4), model('m-3', 6)] };
    // m-1 is deleted, m-2 updated, m-3 inserted; the row of the day is the same.
    expect(await warehouse.commitDay(commitOf({ rows: changed }))).toEqual({
      rowsWritten: 3,
      restated: true,
    });
    expect(tokens(warehouse.path)).toEqual([
      { model_id: 'm-2', billable_tokens: 4 },
      { model_id: 'm-3', billable_tokens: 6 },
    ]);
  });

  it('sees the difference between NULL and zero, and between numbers and texts of all columns', async () => {
    const warehouse = await openTemporary();
    for (const value of [null, 0, 0.5, null]) {
      await warehouse.commitDay(commitOf({ rows: { tokens_daily: [day(value)] } }));
      expect(query(warehouse.path, 'SELECT billable_tokens FROM tokens_daily')).toEqual([
        { billable_tokens: value },
      ]);
    }
    await warehouse.commitDay(commitOf({ rows: { tokens_daily: [[null, 2, 3, null, 5, '{"a":1}']] } }));
    expect(query(warehouse.path, 'SELECT extra FROM tokens_daily')).toEqual([{ extra: '{"a":1}' }]);
  });

  it('leaves no ghosts when the whole day is gone', async () => {
    const warehouse = await openTemporary();
    await warehouse.commitDay(commitOf({ rows: ROWS }));
    expect(await warehouse.commitDay(commitOf({ rows: {}, state: 'awaiting' }))).toEqual({
      rowsWritten: 3,
      restated: true,
    });
    expect(tokens(warehouse.path)).toEqual([]);
    expect(ledger(warehouse.path)).toMatchObject({ state: 'awaiting', rows: 0 });
  });

  it('touches nothing of other days, streams and organizations', async () => {
    const warehouse = await openTemporary();
    const others: CommitSpec[] = [
      { day: '2026-01-31', rows: ROWS },
      { day: '2026-02-02', rows: ROWS },
      { orgId: 'org_2', rows: ROWS },
      { stream: 'users', rows: { user_daily_languages: [['u', 'Go', null]] } },
    ];
    for (const spec of others) await warehouse.commitDay(commitOf(spec));
    await warehouse.commitDay(commitOf({ rows: ROWS }));
    const count = (table: string) => query(warehouse.path, `SELECT COUNT(*) AS n FROM ${table}`)[0]?.['n'];
    expect(count('tokens_daily_by_model')).toBe(8);
    await warehouse.commitDay(commitOf({ rows: {} }));
    expect(count('tokens_daily_by_model')).toBe(6);
    expect(count('tokens_daily')).toBe(3);
    expect(count('user_daily_languages')).toBe(1);
  });
});

describe('a restatement', () => {
  it('records rows and sums before and after, with the instant of the pull', async () => {
    const warehouse = await openTemporary();
    await warehouse.commitDay(commitOf({ rows: ROWS }));
    const after = { tokens_daily: [day(12)], tokens_daily_by_model: [model('m-1', 12)] };
    await warehouse.commitDay(commitOf({ rows: after, pulledAt: '2026-02-03T03:00:00.000Z' }));
    const [row, ...others] = query(warehouse.path, 'SELECT * FROM restatements');
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
    const warehouse = await openTemporary();
    const activity = (sessions: number): CommitSpec => ({
      stream: 'activity',
      rows: { activity_daily: [[5, 6, 7, sessions, 1, 1, null]] },
    });
    await warehouse.commitDay(commitOf(activity(1)));
    await warehouse.commitDay(commitOf(activity(2)));
    const before = JSON.parse(
      String(query(warehouse.path, 'SELECT before FROM restatements')[0]?.['before']),
    );
    expect(before).toMatchObject({ sessions: 1, rows: 1 });
    expect(Object.keys(before)).not.toContain('weekly_active_users');
  });

  it('is none when a late batch fills a day that was awaited', async () => {
    const warehouse = await openTemporary();
    await warehouse.commitDay(commitOf({ rows: {}, state: 'awaiting' }));
    const outcome = await warehouse.commitDay(commitOf({ rows: ROWS, pulledAt: '2026-02-03T03:00:00.000Z' }));
    expect(outcome).toEqual({ rowsWritten: 3, restated: false });
    expect(await warehouse.restatementCount()).toBe(0);
    expect(ledger(warehouse.path)).toMatchObject({ first_loaded_at: '2026-02-03T03:00:00.000Z' });
  });

  it('is none after a failure, when the content is the same', async () => {
    const warehouse = await openTemporary();
    await warehouse.commitDay(commitOf({ rows: ROWS }));
    const { orgId, stream, day: unitDay, pulledAt } = commitOf();
    await warehouse.failUnit({
      orgId,
      stream,
      day: unitDay,
      state: 'failed',
      error: 'x',
      requests: 1,
      pulledAt,
    });
    expect(await warehouse.commitDay(commitOf({ rows: ROWS }))).toEqual({ rowsWritten: 0, restated: false });
    expect(ledger(warehouse.path)).toMatchObject({ state: 'loaded', last_error: null, attempts: 3 });
  });

  it('keeps every one of several in the same millisecond', async () => {
    const warehouse = await openTemporary();
    for (const billable of [1, 2, 3, 4])
      await warehouse.commitDay(commitOf({ rows: { tokens_daily: [day(billable)] } }));
    expect(await warehouse.restatementCount()).toBe(3);
  });
});

describe('the quarantine of a unit', () => {
  const seen = (path: string) => query(path, 'SELECT record, first_seen_at FROM quarantine ORDER BY record');

  it('holds what the last pull set aside; what stays there keeps the instant when it was first seen', async () => {
    const warehouse = await openTemporary();
    const commit = (records: string[], pulledAt: string) =>
      warehouse.commitDay(
        commitOf({ state: 'quarantined', quarantined: records.map((text) => record(text)), pulledAt }),
      );
    await commit(['a', 'b'], '2026-02-02T00:00:00.000Z');
    await commit(['b', 'c'], '2026-02-03T00:00:00.000Z');
    expect(seen(warehouse.path)).toEqual([
      { record: 'b', first_seen_at: '2026-02-02T00:00:00.000Z' },
      { record: 'c', first_seen_at: '2026-02-03T00:00:00.000Z' },
    ]);
    await commit([], '2026-02-04T00:00:00.000Z');
    expect(seen(warehouse.path)).toEqual([]);
  });

  it('is replaced also when the rows are the same, and only for that unit', async () => {
    const warehouse = await openTemporary();
    await warehouse.commitDay(commitOf({ rows: ROWS, state: 'quarantined', quarantined: [record('a')] }));
    await warehouse.commitDay(commitOf({ day: '2026-02-02', quarantined: [record('b')] }));
    await warehouse.commitDay(commitOf({ rows: ROWS }));
    expect(seen(warehouse.path).map((row) => row['record'])).toEqual(['b']);
    expect(ledger(warehouse.path)).toMatchObject({ state: 'loaded' });
  });

  it('is counted by organization, stream and reason', async () => {
    const warehouse = await openTemporary();
    await warehouse.commitDay(commitOf({ quarantined: [record('a'), record('b'), record('c', 'is worse')] }));
    await warehouse.commitDay(commitOf({ day: '2026-02-02', quarantined: [record('a')] }));
    await warehouse.commitDay(commitOf({ orgId: 'org_2', stream: 'users', quarantined: [record('a')] }));
    expect(await warehouse.quarantineCounts()).toEqual([
      { orgId: 'org_1', stream: 'tokens', reason: 'is worse', records: 1 },
      { orgId: 'org_1', stream: 'tokens', reason: 'is wrong', records: 3 },
      { orgId: 'org_2', stream: 'users', reason: 'is wrong', records: 1 },
    ]);
  });
});

describe('drift', () => {
  it('is noted once for each place, with its first sample and the earliest day on which it was seen', async () => {
    const warehouse = await openTemporary();
    const drift = (unitDay: string, sample: string) =>
      warehouse.commitDay(
        commitOf({ day: unitDay, drift: [{ path: 'data[].new', kind: 'unknown field', sample }] }),
      );
    await drift('2026-02-05', '5');
    await drift('2026-02-07', '7');
    await drift('2026-02-03', '3');
    expect(query(warehouse.path, 'SELECT path, kind, sample, first_seen_on FROM schema_drift')).toEqual([
      { path: 'data[].new', kind: 'unknown field', sample: '5', first_seen_on: '2026-02-03' },
    ]);
  });
});

describe('a commit that fails half way', () => {
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
    const warehouse = await openTemporary();
    await warehouse.commitDay(commitOf({ rows: { tokens_daily: [day(1)] } }));
    const before = await digestOf(warehouse);
    const unit = ledger(warehouse.path);
    const broken = commitOf(spec);
    // A row that lacks a column.
    const tables = broken.tables.map(({ table, rows }) => ({
      table,
      rows: table.name === 'tokens_daily_by_user' ? rows.map((row) => row.slice(1)) : rows,
    }));
    expect(await thrownBy(warehouse.commitDay({ ...broken, tables }))).toBeInstanceOf(Error);
    expect(await digestOf(warehouse)).toEqual(before);
    expect(ledger(warehouse.path)).toEqual(unit);
    expect(query(warehouse.path, 'SELECT * FROM restatements')).toEqual([]);
    // And the warehouse goes on working.
    expect(await warehouse.commitDay(commitOf({ rows: ROWS }))).toMatchObject({ restated: true });
  });
});

describe('commits at once', () => {
  it('are all stored, one after the other', async () => {
    const warehouse = await openTemporary();
    const days = Array.from({ length: 20 }, (_, n) => `2026-02-${String(n + 1).padStart(2, '0')}`);
    const { pulledAt } = commitOf();
    await Promise.all([
      ...days.map((unitDay) => warehouse.commitDay(commitOf({ day: unitDay, rows: ROWS }))),
      ...days.map((unitDay) =>
        warehouse.failUnit({
          ...commitOf({ day: unitDay, stream: 'users' }),
          state: 'failed',
          error: 'x',
          requests: 1,
          pulledAt,
        }),
      ),
      warehouse.startRun({ runId: 'r', command: 'run', startedAt: pulledAt, versions: {} }),
    ]);
    const units = await warehouse.units('org_1');
    expect(units.filter(({ state }) => state === 'loaded')).toHaveLength(20);
    expect(units.filter(({ state }) => state === 'failed')).toHaveLength(20);
    expect(await warehouse.runs(5)).toHaveLength(1);
  });
});

describe('any sequence of commits', () => {
  const content = fc.array(
    fc.tuple(fc.constantFrom('m-1', 'm-2', 'm-3', '\u{1F600}', '\uE000'), fc.option(fc.nat(5))),
    { maxLength: 4 },
  );

  it('leaves what the last one of each day said, and the digest of a warehouse that was told only that', async () => {
    const commits = fc.array(fc.tuple(fc.constantFrom('2026-02-01', '2026-02-02', '2026-02-03'), content), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(commits, async (list) => {
        const [told, fresh] = [await openTemporary(), await openTemporary()];
        const last = new Map<string, RowsByTable>();
        for (const [unitDay, models] of list) {
          const rows = {
            tokens_daily_by_model: [...new Map(models)].map(([id, billable]) => model(id, billable)),
          };
          await told.commitDay(commitOf({ day: unitDay, rows }));
          last.set(unitDay, rows);
        }
        for (const [unitDay, rows] of last) await fresh.commitDay(commitOf({ day: unitDay, rows }));
        expect(await digestOf(told)).toEqual(await digestOf(fresh));
        const digests = async (warehouse: typeof told) =>
          (await warehouse.units('org_1')).map((unit) => [unit.day, unit.contentSha256, unit.rows]);
        expect((await digests(told)).toSorted()).toEqual((await digests(fresh)).toSorted());
        await Promise.all([told.close(), fresh.close()]);
      }),
      { numRuns: 12 },
    );
  });
});
