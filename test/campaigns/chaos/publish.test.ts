// @module-tag campaign/moves

import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { daywalk, startDaywalk } from '../../support/process/daywalk-process.ts';
import { ask, lakeOf, rowsIn, tableIn } from '../../support/publish/lake.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary } from '../../support/warehouse/open-temporary.ts';

const PRELOAD = pathToFileURL(join(import.meta.dirname, '../../support/publish/kill-at-step.mjs')).href;
const EVERYTHING = process.env['DAYWALK_CHAOS'] === '1';
/** Rows of a file that has more than one row group, because their names are long. */
const LARGE = 11_000;
const LONG = 'x'.repeat(800);
const TABLES = 'tokens_daily,tokens_daily_by_model';

/** Gives an organization a month in which every number is `n`, of `rows` models; none makes it empty. */
async function put(warehouse: Warehouse, orgId: string, month: string, n: number, rows = 50): Promise<void> {
  const models = Array.from({ length: rows }, (_, model) => [
    `m ${model} ${rows === LARGE ? LONG : ''}`,
    ...[null, n, n, n, n, n, null],
  ]);
  await commitDay(
    warehouse,
    commitOf({
      orgId,
      day: `${month}-01`,
      rows: n === 0 ? {} : { tokens_daily: [[n, n, n, n, n, null]], tokens_daily_by_model: models },
    }),
  );
}

/** Publishes in a process that is killed at a step; returns its steps if it was not killed. */
async function killedAt(step: number, warehouse: string, lake: string): Promise<string[] | null> {
  const { signal, code, stderr } = await daywalk(
    ['publish', '--warehouse', warehouse, '--parquet', lake, '--tables', TABLES],
    { env: { KILL_AT: String(step), KILL_BELOW: lake }, nodeArgs: ['--import', PRELOAD] },
  );
  if (signal === 'SIGKILL') return null;
  expect(code, stderr).toBe(0);
  return [...stderr.matchAll(/^step \d+: (.*)$/gm)].map(([, what]) => String(what));
}

/** Publishes undisturbed. */
async function publishAll(warehouse: string, lake: string): Promise<void> {
  await lakeOf(warehouse, { directory: lake, tables: [tables.tokensDaily, tables.tokensDailyByModel] });
}

/** The number of the step that puts the models of an organization in their place. */
const replacing = (steps: readonly string[], org: string) =>
  1 + steps.findIndex((step) => step.startsWith('rename') && step.includes(`_by_model/org_id=${org}/`));

/** The number in each partition of the models; each has all of its rows, and all are alike. */
async function partitionsIn(lake: string, rows = 50): Promise<Record<string, number>> {
  const found = await ask(
    `SELECT org_id || ' ' || month, MIN(billable_tokens), MAX(billable_tokens), COUNT(*)
     FROM ${tableIn(lake, 'tokens_daily_by_model')} GROUP BY ALL`,
  );
  for (const [name, min, max, count] of found)
    expect([min, Number(count)], String(name)).toEqual([max, rows]);
  return Object.fromEntries(found.map(([name, min]) => [name, min]));
}

describe('a publish that is killed', () => {
  test('at any file system change leaves each partition old or new, and the next publish completes the lake', async () => {
    const warehouse = await openTemporary();
    await put(warehouse, 'a', '2026-02', 1);
    await put(warehouse, 'a', '2026-03', 1);
    const { lake } = await lakeOf(warehouse.path, {
      tables: [tables.tokensDaily, tables.tokensDailyByModel],
    });
    let steps = Number.POSITIVE_INFINITY;
    let kills = 0;
    for (let n = 2, step = 1; step <= steps; n += 1, step += EVERYTHING ? 1 : 11) {
      // One partition changes, one stays, and one comes or goes.
      await put(warehouse, 'a', '2026-03', n);
      await put(warehouse, 'b', '2026-03', n % 2 === 0 ? n : 0);
      const left = await killedAt(step, warehouse.path, lake);
      if (left === null) kills += 1;
      else steps = Math.min(steps, left.length);

      const seen = await partitionsIn(lake);
      const [before, after] = n % 2 === 0 ? [undefined, n] : [n - 1, undefined];
      expect(seen['a 2026-02']).toBe(1);
      expect([n - 1, n]).toContain(seen['a 2026-03']);
      expect([before, after]).toContain(seen['b 2026-03']);

      await publishAll(warehouse.path, lake);
      const b = after === undefined ? {} : { 'b 2026-03': after };
      expect(await partitionsIn(lake)).toEqual({ 'a 2026-02': 1, 'a 2026-03': n, ...b });
      expect(readdirSync(lake).filter((name) => name.endsWith('.part'))).toEqual([]);
    }
    expect(kills).toBeGreaterThan(EVERYTHING ? 30 : 3);
  });

  test('after it replaced a file does not mislead the next publish, even with the earlier rows', async () => {
    const warehouse = await openTemporary();
    await put(warehouse, 'a', '2026-03', 1);
    // What is published later, so that each publish takes the steps that are counted here.
    const lake = join(tempDir(), 'lake');
    await publishAll(warehouse.path, lake);
    const pattern = `${lake} to count in`;
    cpSync(lake, pattern, { recursive: true });
    await put(warehouse, 'a', '2026-03', 2);
    const steps = (await killedAt(0, warehouse.path, pattern)) ?? [];
    const first = replacing(steps, 'a') + 1;
    const instants = Array.from({ length: steps.length + 1 - first }, (_, index) => first + index);
    expect(instants.length).toBeGreaterThan(1);
    for (const step of EVERYTHING ? instants : instants.slice(0, 2)) {
      await put(warehouse, 'a', '2026-03', 2);
      expect(await killedAt(step, warehouse.path, lake)).toBeNull();
      expect(await partitionsIn(lake)).toEqual({ 'a 2026-03': 2 });
      // The same bytes in number, and the rows that are noted.
      await put(warehouse, 'a', '2026-03', 1);
      await publishAll(warehouse.path, lake);
      expect(await partitionsIn(lake)).toEqual({ 'a 2026-03': 1 });
    }
  });

  test('during the first publish leaves nothing that blocks the next one', async () => {
    const warehouse = await openTemporary();
    await put(warehouse, 'a', '2026-02', 1);
    for (const step of EVERYTHING ? [1, 2, 3, 4, 8, 12] : [1, 3, 8]) {
      const lake = join(tempDir(), 'lake');
      expect(await killedAt(step, warehouse.path, lake)).toBeNull();
      await publishAll(warehouse.path, lake);
      expect(await partitionsIn(lake)).toEqual({ 'a 2026-02': 1 });
    }
  });

  test('before it noted a new partition does not keep it once its rows are gone', async () => {
    const warehouse = await openTemporary();
    await put(warehouse, 'a', '2026-02', 1);
    const lake = join(tempDir(), 'lake');
    await publishAll(warehouse.path, lake);
    await put(warehouse, 'b', '2026-02', 1);
    const pattern = `${lake} to count in`;
    cpSync(lake, pattern, { recursive: true });
    const steps = (await killedAt(0, warehouse.path, pattern)) ?? [];
    expect(await killedAt(replacing(steps, 'b') + 1, warehouse.path, lake)).toBeNull();
    expect(await partitionsIn(lake)).toHaveProperty(['b 2026-02']);
    await put(warehouse, 'b', '2026-02', 0);
    await publishAll(warehouse.path, lake);
    expect(await partitionsIn(lake)).toEqual({ 'a 2026-02': 1 });
  });
});

describe('a publish of files with several row groups that is killed', () => {
  test('at any file system change leaves each partition old or new, and the next publish completes the lake', async () => {
    const warehouse = await openTemporary();
    const months = ['2026-02', '2026-03'];
    const putAll = async (n: number) => {
      for (const month of months) await put(warehouse, 'a', month, n, LARGE);
    };
    await putAll(1);
    const { lake } = await lakeOf(warehouse.path, {
      tables: [tables.tokensDaily, tables.tokensDailyByModel],
    });
    let steps = Number.POSITIVE_INFINITY;
    let kills = 0;
    for (let n = 2, step = 3; step <= steps; n += 1, step += EVERYTHING ? 1 : 12) {
      await putAll(n);
      const left = await killedAt(step, warehouse.path, lake);
      if (left === null) kills += 1;
      else steps = Math.min(steps, left.length);
      for (const seen of Object.values(await partitionsIn(lake, LARGE))) expect([n - 1, n]).toContain(seen);
      await publishAll(warehouse.path, lake);
      expect(await partitionsIn(lake, LARGE)).toEqual(
        Object.fromEntries(months.map((month) => [`a ${month}`, n])),
      );
      expect(readdirSync(lake).filter((name) => name.endsWith('.part'))).toEqual([]);
    }
    expect(kills).toBeGreaterThan(EVERYTHING ? 12 : 1);
  });
});

describe('readers during publishes', () => {
  test('see only whole partitions, and never a missing one', async () => {
    const warehouse = await openTemporary();
    await put(warehouse, 'a', '2026-02', 1);
    await put(warehouse, 'a', '2026-03', 1);
    const { lake } = await lakeOf(warehouse.path, { tables: [tables.tokensDailyByModel] });
    let isOver = false;
    const seen = new Set<number>();
    const reading = (async () => {
      while (!isOver) {
        const found = await partitionsIn(lake);
        expect(found['a 2026-02']).toBe(1);
        expect(found['a 2026-03']).toBeDefined();
        seen.add(found['a 2026-03'] ?? 0);
      }
    })();
    for (let n = 2; n <= 5; n += 1) {
      await put(warehouse, 'a', '2026-03', n);
      await startDaywalk(['publish', '--warehouse', warehouse.path, '--parquet', lake]).ended;
    }
    isOver = true;
    await reading;
    expect(seen.size).toBeGreaterThan(2);
    expect((await rowsIn(lake, tables.tokensDaily)).map((row) => row[2])).toEqual([1, 5]);
  });
});
