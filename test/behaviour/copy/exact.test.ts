import { describe, expect, test } from 'vitest';
import { allTables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { fullWarehouse } from '../../support/copy/full-warehouse.ts';
import { contentOf, copy, onEachCopyable } from '../../support/copy/run-copy.ts';
import { rigOver } from '../../support/rig/rig.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

/** The rollups, which the destination computes; the calendar depends on the clock. */
const ROLLUPS = allTables.filter(({ role, name }) => role === 'rollup' && name !== 'dates');

/** A copy that finds everything there reads no unit and writes no row. */
async function expectNothingToDo(from: string, to: string, units: number): Promise<void> {
  const { report, events } = await copy(from, to);
  expect(report).toMatchObject({ exitCode: 0, unitsMoved: 0, unitsUnchanged: units, rowsWritten: 0 });
  expect(events).toContainEqual({ type: 'copy-planned', units: 0, unchanged: units });
}

onEachCopyable((database) => {
  describe('a copy of a warehouse with rows in every table', () => {
    test('has every row of every table, as does a copy of the copy; repeating it writes nothing', async () => {
      const rig = await fullWarehouse();
      const content = await contentOf(rig.path);
      // Otherwise the test would prove nothing about them.
      for (const [table, rows] of Object.entries(content)) expect(rows, table).not.toEqual([]);
      const states = content['export_units']?.map((row) => row[3]);
      expect([...new Set(states)].toSorted()).toEqual([
        'awaiting',
        'empty',
        'failed',
        'loaded',
        'quarantined',
      ]);

      const { location } = database.place();
      const { report } = await copy(rig.path, location);
      expect(report).toMatchObject({ exitCode: 0, unitsUnchanged: 0, unitsRemoved: 0 });
      expect(report.unitsMoved).toBe(states?.length);
      expect(report.digest).toEqual({ from: await rig.digest(), to: await rig.digest() });
      expect(await contentOf(location)).toEqual(content);
      const rollups = await contentOf(rig.path, ROLLUPS);
      for (const [table, rows] of Object.entries(rollups)) expect(rows, table).not.toEqual([]);
      expect(await contentOf(location, ROLLUPS)).toEqual(rollups);
      await expectNothingToDo(rig.path, location, report.unitsMoved);

      const back = tempFile();
      const returned = await copy(location, back);
      expect(returned.report).toMatchObject({ exitCode: 0, digest: report.digest });
      expect(await rigOver(rig.emulator, sqlitePlace(back)).digest()).toBe(report.digest.from);
      expect(await contentOf(back)).toEqual(content);
      await expectNothingToDo(location, back, report.unitsMoved);
    });
  });

  describe('an earlier copy', () => {
    test('receives later changes and deletions, and nothing else is written', {
      tags: 'ci/again',
    }, async () => {
      const rig = await fullWarehouse();
      const { location } = database.place();
      await copy(rig.path, location);
      const before = await contentOf(rig.path);
      rig.emulator.setRules([]);
      for (const kind of ['vanish-users', 'vanish-models', 'add-users', 'delete-report'] as const)
        rig.emulator.revise({ kind, day: parseDay('2026-02-09'), count: 2 });
      await rig.run();
      const after = await contentOf(rig.path);
      const known = new Set(before['export_units']?.map((row) => JSON.stringify(row)));
      const changed = after['export_units']?.filter((row) => !known.has(JSON.stringify(row))) ?? [];
      expect(changed.length).toBeGreaterThan(5);
      expect(changed.length).toBeLessThan(30);

      const { report } = await copy(rig.path, location);
      expect(report).toMatchObject({ exitCode: 0, unitsMoved: changed.length, unitsRemoved: 0 });
      expect(report.tables.find(({ table }) => table === 'user_daily')?.removed).toBeGreaterThan(0);
      expect(await contentOf(location)).toEqual(after);
      expect(await contentOf(location, ROLLUPS)).toEqual(await contentOf(rig.path, ROLLUPS));
    });

    test('lets a run continue: settled days are not requested again', { tags: 'ci/variant' }, async () => {
      const rig = await fullWarehouse();
      rig.emulator.setRules([]);
      const place = database.place();
      const { location } = place;
      await copy(rig.path, location);
      const there = await rigOver(rig.emulator, place).run();
      const here = await rig.run();
      expect(there.report.exitCode).toBe(0);
      expect(there.report.unitsPlanned).toBe(here.report.unitsPlanned);
      expect(there.report.unitsPlanned).toBeLessThan(27);
      expect(there.report.rowsWritten).toBe(here.report.rowsWritten);
      const [held, copied] = [await contentOf(rig.path), await contentOf(location)];
      for (const table of ['user_daily', 'tools_daily', 'readiness_report_criteria', 'hook_events'])
        expect(copied[table], table).toEqual(held[table]);
    });
  });
});
