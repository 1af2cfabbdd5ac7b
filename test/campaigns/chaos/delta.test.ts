// @module-tag campaign/moves

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { daywalk, startDaywalk } from '../../support/process/daywalk-process.ts';
import { deltaOf, deltaRows, recordedVersions, viewOf } from '../../support/publish/delta.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';

const PRELOAD = pathToFileURL(join(import.meta.dirname, '../../support/publish/kill-at-step.mjs')).href;
const EVERYTHING = process.env['DAYWALK_CHAOS'] === '1';
const TABLES = [tables.tokensDaily, tables.tokensDailyByModel];
const NAMES = TABLES.map(({ name }) => name).join();
const MONTHS = ['2026-02', '2026-03'];

/** Gives each month the same number in each of its rows. */
async function put(warehouse: Warehouse, n: number): Promise<void> {
  const models = Array.from({ length: 50 }, (_, model) => [`m ${model}`, null, n, n, n, n, n, null]);
  const rows = { tokens_daily: [[n, n, n, n, n, null]], tokens_daily_by_model: models };
  for (const month of MONTHS) await commitDay(warehouse, commitOf({ orgId: 'a', day: `${month}-01`, rows }));
}

/** Publishes in a process that is killed at a step; returns the number of steps if it was not killed. */
async function killedAt(step: number, warehouse: string, lake: string): Promise<number | null> {
  const { signal, code, stderr } = await daywalk(
    ['publish', '--warehouse', warehouse, '--delta', lake, '--tables', NAMES],
    { env: { KILL_AT: String(step), KILL_BELOW: lake }, nodeArgs: ['--import', PRELOAD] },
  );
  if (signal === 'SIGKILL') return null;
  expect(code, stderr).toBe(0);
  return [...stderr.matchAll(/^step \d+: /gm)].length;
}

/** The numbers in a table, of which every month has all rows; none if there is no table yet. */
async function numbersIn(lake: string, name: string, version?: number): Promise<number[]> {
  const table = TABLES.find((each) => each.name === name) ?? tables.tokensDaily;
  const rows = await deltaRows(lake, table, version);
  const isByModel = table === tables.tokensDailyByModel;
  expect(rows.length).toBe(isByModel ? 100 : 2);
  return [...new Set(rows.map((row) => Number(row[isByModel ? 4 : 2])))];
}

/** The data files of a lake that no version names. */
async function orphansIn(lake: string): Promise<string[]> {
  const orphans: string[] = [];
  for (const { name } of TABLES) {
    const { version } = await viewOf(lake, name);
    const named = new Set<string>();
    for (let each = 0; each <= version; each += 1)
      for (const path of (await viewOf(lake, name, each)).files) named.add(path);
    const paths = readdirSync(join(lake, name), { recursive: true, encoding: 'utf8' });
    const data = paths.filter((path) => path.endsWith('.parquet') && !path.startsWith('_delta_log'));
    orphans.push(...data.filter((path) => !named.has(path)));
  }
  return orphans;
}

describe('a publish of Delta tables that is killed', () => {
  test('at any file system change leaves each table old or new as a whole, and the next publish completes the lake', async () => {
    const warehouse = await openTemporary();
    await put(warehouse, 1);
    const { lake } = await deltaOf(warehouse.path, { tables: TABLES });
    let steps = Number.POSITIVE_INFINITY;
    let kills = 0;
    for (let n = 2, step = 1; step <= steps; n += 1, step += EVERYTHING ? 1 : 9) {
      await put(warehouse, n);
      const left = await killedAt(step, warehouse.path, lake);
      if (left === null) kills += 1;
      else steps = Math.min(steps, left);
      for (const { name } of TABLES) {
        const [seen, ...others] = await numbersIn(lake, name);
        expect(others, `${name} after a kill at step ${step}`).toEqual([]);
        expect([n - 1, n]).toContain(seen);
      }
      // Together the recorded versions show one state.
      const versions = recordedVersions(lake);
      const recorded = await Promise.all(TABLES.map(({ name }) => numbersIn(lake, name, versions[name])));
      expect(new Set(recorded.flat()).size, `recorded after a kill at step ${step}`).toBe(1);

      await deltaOf(warehouse.path, { directory: lake, tables: TABLES });
      for (const { name } of TABLES) expect(await numbersIn(lake, name)).toEqual([n]);
      expect(readdirSync(lake).filter((name) => name.endsWith('.part'))).toEqual([]);
      if (n <= 10) expect(await orphansIn(lake)).toEqual([]);
    }
    expect(kills).toBeGreaterThan(EVERYTHING ? 30 : 3);
  });

  test('during the first publish leaves nothing that blocks the next one', async () => {
    const warehouse = await openTemporary();
    await put(warehouse, 1);
    for (const step of EVERYTHING ? Array.from({ length: 40 }, (_, n) => n + 1) : [1, 4, 9, 15, 22, 30]) {
      const lake = join(tempDir(), 'lake');
      expect(await killedAt(step, warehouse.path, lake)).toBeNull();
      await deltaOf(warehouse.path, { directory: lake, tables: TABLES });
      for (const { name } of TABLES) expect(await numbersIn(lake, name)).toEqual([1]);
      expect(await orphansIn(lake)).toEqual([]);
    }
  });
});

describe('readers during publishes of Delta tables', () => {
  test('see one state of a table, and one state of all tables at the recorded versions', async () => {
    const warehouse = await openTemporary();
    await put(warehouse, 1);
    const { lake } = await deltaOf(warehouse.path, { tables: TABLES });
    let isOver = false;
    let reads = 0;
    const seen = new Set<number>();
    const reading = (async () => {
      while (!isOver) {
        const versions = recordedVersions(lake);
        const states = new Set<number>();
        for (const { name } of TABLES) {
          expect(await numbersIn(lake, name), 'the newest version').toHaveLength(1);
          for (const state of await numbersIn(lake, name, versions[name])) states.add(state);
        }
        expect(states.size).toBe(1);
        for (const state of states) seen.add(state);
        reads += 1;
      }
    })();
    for (let n = 2; n <= 9; n += 1) {
      await put(warehouse, n);
      await startDaywalk(['publish', '--warehouse', warehouse.path, '--delta', lake, '--tables', NAMES])
        .ended;
    }
    isOver = true;
    await reading;
    expect(reads).toBeGreaterThan(5);
    expect(seen.size).toBeGreaterThan(2);
  });
});
