import { existsSync, linkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { copiedTables, tables } from '../../../schema/tables.ts';
import type { CopyEvent } from '../../../src/copy/events.ts';
import { BusyError, UsageError } from '../../../src/core/errors.ts';
import { isSameWarehouse } from '../../../src/port/location.ts';
import { RESTORING, type Warehouse } from '../../../src/port/warehouse.ts';
import { storeHookEvents } from '../../../src/records/hook-events.ts';
import { writeState } from '../../../src/records/index.ts';
import { recordSession, startRun } from '../../../src/records/runs.ts';
import { eventRow, sessionRow } from '../../support/copy/full-warehouse.ts';
import { fill } from '../../support/copy/large-warehouse.ts';
import { type CopyOptions, contentOf, copy, onEachCopyable } from '../../support/copy/run-copy.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { type Database, open } from '../../support/warehouse/each-database.ts';
import { sqlite, sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

const DAYS = ['2026-02-01', '2026-02-02', '2026-02-03'];
const tokens = (value: number) => ({ tokens_daily: [[value, 1, 1, 1, 1, null]] });

/** Stores days of tokens as a run would. */
async function store(
  warehouse: Warehouse,
  days: readonly string[],
  more: Parameters<typeof commitOf>[0] = {},
): Promise<void> {
  for (const day of days) await commitDay(warehouse, commitOf({ day, rows: tokens(1), ...more }));
}

/** A source with three days, and a copy of it. */
async function copied(database: Database) {
  const source = await open(sqlite);
  await store(source, DAYS, { rows: tokens(0), pulledAt: '2026-02-01T03:00:00.000Z' });
  await store(source, DAYS);
  await storeHookEvents(source, { orgId: '', rows: [eventRow('event_1')] });
  const place = database.place();
  await copy(source.place.location, place.location);
  return { source, place, from: source.place.location, to: place.location };
}

/** The message of a copy that is refused with exit code 2; fails when the destination has changed. */
async function refusal(from: string, to: string, options: CopyOptions = {}): Promise<string> {
  const before = await contentOf(to);
  const error = await copy(from, to, options).then(
    () => new Error('it was made'),
    (reason: unknown) => reason,
  );
  expect(await contentOf(to)).toEqual(before);
  if (!(error instanceof UsageError)) throw error;
  expect(error.hint).toMatch(/\S/);
  return error.message;
}

onEachCopyable((database) => {
  describe('a destination with content that the source lacks', () => {
    test('keeps its units, organizations, sessions, events and runs', async () => {
      const { place, from, to } = await copied(database);
      const destination = await open(place);
      await store(destination, ['2026-02-04']);
      await store(destination, DAYS.slice(1), { rows: tokens(2), pulledAt: '2026-02-09T03:00:00.000Z' });
      await store(destination, ['2026-02-04'], { orgId: 'org_2' });
      await recordSession(destination, () => sessionRow('org_1', 'session_9'));
      await storeHookEvents(destination, { orgId: '', rows: ['event_8', 'event_9'].map(eventRow) });
      await startRun(destination, {
        runId: 'run_9',
        command: 'run',
        startedAt: new Date('2026-02-09T03:00:00.000Z'),
        versions: {},
      });
      expect(await refusal(from, to)).toContain(
        'all of org_2; 1 unit that the source lacks (tokens 2026-02-04); ' +
          "2 units pulled later than the source's (tokens 2026-02-02, tokens 2026-02-03); " +
          '1 row of sessions; 2 rows of hook_events; 1 row of export_runs; nothing was written',
      );
    });

    test.each<[string, (destination: Warehouse) => Promise<unknown>]>([
      ['a unit', (destination) => store(destination, ['2026-02-04'])],
      ['a session', (destination) => recordSession(destination, () => sessionRow('org_1', 'session_9'))],
    ])('keeps it where the difference is only %s', async (_, add) => {
      const { place, from, to } = await copied(database);
      await add(await open(place));
      await refusal(from, to);
    });

    test('becomes equal on request, and the output lists what was deleted', async () => {
      const { source, place, from, to } = await copied(database);
      const destination = await open(place);
      await store(destination, ['2026-02-04'], { rows: tokens(9) });
      await store(destination, ['2026-02-01'], { orgId: 'org_2' });
      await recordSession(destination, () => sessionRow('org_1', 'session_9'));
      const { report, events } = await copy(from, to, { replace: true });
      expect(report).toMatchObject({ exitCode: 0, unitsMoved: 0, unitsUnchanged: 3, unitsRemoved: 2 });
      expect(events.find(({ type }) => type === 'copy-replaces')).toMatchObject({
        lost: 'all of org_2; 1 unit that the source lacks (tokens 2026-02-04); 1 row of sessions',
      });
      // What was done to it stays known: an archive may have heard of it.
      const kept = copiedTables.filter((table) => table !== tables.acts);
      expect(await contentOf(to, kept)).toEqual(await contentOf(source.place.location, kept));
    });

    test('does not count events that were assigned to an organization later', async () => {
      const { source, from, to } = await copied(database);
      await storeHookEvents(source, { orgId: 'org_1', rows: [] });
      expect((await copy(from, to)).report).toMatchObject({ exitCode: 0, rowsWritten: 2 });
    });
  });

  describe('a destination that another program changed', () => {
    test('is reported with exit code 5 and the table name, and repaired on request', async () => {
      const { place, from, to } = await copied(database);
      await place.execute("UPDATE tokens_daily SET billable_tokens = 7 WHERE date = '2026-02-02'");
      const { report } = await copy(from, to);
      expect(report).toMatchObject({ exitCode: 5, unitsUnchanged: 3, rowsWritten: 0 });
      expect(report.tables.filter(({ isSame }) => !isSame)).toEqual([
        { table: 'tokens_daily', rows: 3, written: 0, removed: 0, isSame: false },
      ]);
      expect(report.digest.from).not.toBe(report.digest.to);
      const repaired = await copy(from, to, { replace: true });
      expect(repaired.report).toMatchObject({
        exitCode: 0,
        unitsMoved: 1,
        unitsUnchanged: 2,
        rowsWritten: 1,
      });
    });

    test('is reported for every table', async () => {
      const { source, place, from, to } = await copied(database);
      await fill(source, { days: 1, users: 2, reports: 2 });
      await copy(from, to);
      const tables = ['user_daily', 'readiness_reports', 'restatements'];
      for (const table of tables) await place.execute(`DELETE FROM ${table}`);
      const { report } = await copy(from, to);
      expect(report.exitCode).toBe(5);
      expect(report.tables.filter(({ isSame }) => !isSame).map(({ table }) => table)).toEqual(tables);
      expect((await copy(from, to, { replace: true })).report.exitCode).toBe(0);
      expect(await contentOf(to)).toEqual(await contentOf(from));
    });

    test('loses rows that have no ledger row', { tags: 'ci/rare' }, async () => {
      const { place, from, to } = await copied(database);
      await place.execute(
        "INSERT INTO tokens_daily SELECT org_id, '2025-12-24', 1, 1, 1, 1, 1, NULL FROM tokens_daily WHERE date = '2026-02-02'",
      );
      expect((await copy(from, to)).report.exitCode).toBe(5);
      expect((await copy(from, to, { replace: true })).report).toMatchObject({ exitCode: 0, rowsWritten: 1 });
    });
  });

  describe('a destination in use by a run', () => {
    test('is refused, or waited for on request', async () => {
      const { place, from, to } = await copied(database);
      const lock = await (await open(place)).lock();
      await expect(copy(from, to)).rejects.toThrow(BusyError);
      const waiting = copy(from, to, { wait: true });
      await lock.release();
      expect((await waiting).report.exitCode).toBe(0);
    });

    test('gets no part of a restore that has begun in the source while the copy waited', async () => {
      const { source, place, from, to } = await copied(database);
      const lock = await (await open(place)).lock();
      const onEvent = (event: CopyEvent) => {
        if (event.type !== 'warning' || event.hint?.startsWith('waiting') !== true) return;
        void writeState(source, '', RESTORING, '"a backup"').then(() => lock.release());
      };
      await expect(copy(from, to, { wait: true, onEvent })).rejects.toThrow(
        `a restore into ${from} was interrupted`,
      );
    });

    test('differs from the source, which may be in use', async () => {
      const { source, from, to } = await copied(database);
      const lock = await source.lock();
      expect((await copy(from, to)).report.exitCode).toBe(0);
      await lock.release();
    });
  });

  test('what is written to the source during a copy is copied whole or not at all', {
    tags: 'ci/rare',
  }, async () => {
    const { source, from } = await copied(database);
    const before = await contentOf(from);
    const place = database.place();
    let writing: Promise<void> | undefined;
    const { report } = await copy(from, place.location, {
      onEvent: ({ type }) => {
        if (type === 'copy-planned')
          writing = store(source, DAYS, { rows: tokens(5), pulledAt: '2026-02-09T03:00:00.000Z' });
      },
    });
    await writing;
    expect(report.exitCode).toBe(0);
    expect(await contentOf(place.location)).toEqual(before);
    expect((await copy(from, place.location)).report).toMatchObject({ exitCode: 0, unitsMoved: 3 });
    expect(await contentOf(place.location)).toEqual(await contentOf(from));
  });
});

describe('a copy onto itself is refused', () => {
  test.each<[string, (path: string) => string]>([
    ['by the same path', (path) => path],
    ['by another path', (path) => join(path, '..', '.', 'daywalk.db')],
    [
      'by a symbolic link',
      (path) => {
        symlinkSync(path, `${path}.link`);
        return `${path}.link`;
      },
    ],
    [
      'by a hard link',
      (path) => {
        linkSync(path, `${path}.link`);
        return `${path}.link`;
      },
    ],
  ])('%s', async (_, nameOf) => {
    const path = tempFile();
    await open(sqlitePlace(path));
    await expect(copy(path, nameOf(path))).rejects.toThrow(/--to names the source warehouse/);
  });

  test.each([
    ['postgres://u:a@db.example.com/w', 'postgresql://v@DB.example.com:5432/w?schema=public'],
    ['postgres://db.example.com/w?schema=a', 'postgres://other/w?schema=a&host=db.example.com'],
  ])('by the URLs %s and %s', (from, to) => {
    expect(isSameWarehouse(from, to)).toBe(true);
  });

  test.each([
    ['postgres://db.example.com/w', 'postgres://db.example.com/w?schema=b'],
    ['postgres://db.example.com/w', 'postgres://db.example.com:5433/w'],
    ['postgres://db.example.com/w', 'postgres://db.example.com/v'],
  ])('not by the different URLs %s and %s', (from, to) => {
    expect(isSameWarehouse(from, to)).toBe(false);
  });
});

test('a missing source creates no destination', async () => {
  const path = join(tempDir(), 'copy.db');
  await expect(copy(tempFile('missing.db'), path)).rejects.toThrow(UsageError);
  expect(existsSync(path)).toBe(false);
});
