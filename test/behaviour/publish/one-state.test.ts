import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { publishLake } from '../../../src/publish/publish.ts';
import { ask, lakeOf, tableIn } from '../../support/publish/lake.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';

const MONTHS = ['2026-02', '2026-03', '2026-04', '2026-05'];
const MODELS = [tables.tokensDailyByModel];

/** Makes a warehouse in which every number is 1, and returns its path. */
async function filledWarehouse(): Promise<string> {
  const warehouse = await openTemporary();
  const rows = { tokens_daily_by_model: [['model', null, 1, 1, 1, 1, 1, null]] };
  for (const month of MONTHS) await commitDay(warehouse, commitOf({ day: `${month}-01`, rows }));
  await warehouse.close();
  return warehouse.path;
}

/** Makes every number of a warehouse 2, as another program would. */
function change(path: string): void {
  const db = new Sqlite(path);
  db.exec('UPDATE tokens_daily_by_model SET billable_tokens = 2');
  db.close();
}

/** Publishes a warehouse; `disturb` is called when the ledger has been read, and before each partition is read. */
async function publishDisturbed(path: string, disturb: (scans: number) => void): Promise<string> {
  const opened = await openTemporary(path);
  let scans = 0;
  const warehouse: Warehouse = {
    ...opened,
    read: async (steps) => {
      const read = await opened.read(steps);
      const [first]: unknown[] = Array.isArray(read) ? read : [];
      if (typeof first === 'object' && first !== null && 'contentSha256' in first) disturb(0);
      return read;
    },
    scan: (...call) => {
      scans += 1;
      disturb(scans);
      return opened.scan(...call);
    },
  };
  const directory = join(tempDir(), 'lake');
  const source = { warehouse, clock: systemClock(), signal: new AbortController().signal };
  await publishLake(source, { directory, tables: MODELS, force: false });
  return directory;
}

/** The different numbers of a lake, each with how many months have it. */
function numbersIn(lake: string) {
  return ask(
    `SELECT billable_tokens, COUNT(DISTINCT month)::INTEGER
     FROM ${tableIn(lake, 'tokens_daily_by_model')} GROUP BY ALL ORDER BY ALL`,
  );
}

describe('all files of a publish are of one state of the warehouse', () => {
  test.each([
    ['after the ledger was read', 0],
    ['between two partitions', 3],
  ])('when another program commits %s', { tags: 'ci/variant' }, async (_, instant) => {
    const path = await filledWarehouse();
    let changes = 0;
    const lake = await publishDisturbed(path, (scans) => {
      if (scans !== instant) return;
      change(path);
      changes += 1;
    });
    expect(changes).toBe(1);
    expect(await numbersIn(lake)).toEqual([[1, MONTHS.length]]);
    await lakeOf(path, { directory: lake, tables: MODELS, force: true });
    expect(await numbersIn(lake)).toEqual([[2, MONTHS.length]]);
  });

  test('when another file takes the place of the warehouse between two partitions', async () => {
    const path = await filledWarehouse();
    const other = join(tempDir(), 'other.db');
    copyFileSync(path, other);
    change(other);
    const lake = await publishDisturbed(path, (scans) => {
      if (scans === 3) renameSync(other, path);
    });
    expect(await numbersIn(lake)).toEqual([[1, MONTHS.length]]);
  });
});
