// @module-tag database-specific

import { chmodSync, closeSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { Values } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { readUnits } from '../../../src/ledger/ledger.ts';
import { digestOf } from '../../../src/warehouse/digest.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { firstLine, startScript } from '../../support/process/script.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary, query } from '../../support/warehouse/open-temporary.ts';

const ROWS = { tokens_daily: [[1, 2, 3, 4, 5, null]] };

/** A clock on which each wait takes `stepMs`, so that a long wait has few steps. */
function fastClock(stepMs: number): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  let ms = 0;
  return {
    slept,
    now: () => new Date('2026-03-01T00:00:00Z'),
    monotonicMs: () => ms,
    sleep: async (wait) => {
      slept.push(wait);
      ms += stepMs;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('a foreign program that writes', () => {
  it('is waited for', async () => {
    const clock = fastClock(10);
    const warehouse = await openTemporary(tempFile(), { clock });
    const other = new Sqlite(warehouse.path);
    other.exec('BEGIN IMMEDIATE');
    const commit = commitDay(warehouse, commitOf({ rows: ROWS }));
    await expect.poll(() => clock.slept.length).toBeGreaterThan(0);
    other.exec('COMMIT');
    other.close();
    expect(await commit).toMatchObject({ rowsWritten: 1, restated: false });
  });

  it('is waited for at most half a minute: exit code 75, and nothing is stored', async () => {
    const clock = fastClock(12_000);
    const warehouse = await openTemporary(tempFile(), { clock });
    const other = new Sqlite(warehouse.path);
    other.exec('BEGIN IMMEDIATE');
    expect(await thrownBy(commitDay(warehouse, commitOf({ rows: ROWS })))).toMatchObject({
      name: 'BusyError',
      exitCode: 75,
      message: expect.stringContaining(warehouse.path),
      hint: expect.stringMatching(/\S/),
    });
    expect(clock.slept).toHaveLength(3);
    other.exec('ROLLBACK');
    other.close();
    expect(await readUnits(warehouse, 'org_1')).toEqual([]);
    expect(await commitDay(warehouse, commitOf({ rows: ROWS }))).toMatchObject({ rowsWritten: 1 });
  });

  it('that only reads never prevents writing', async () => {
    const warehouse = await openTemporary();
    await commitDay(warehouse, commitOf({ rows: ROWS }));
    const other = new Sqlite(warehouse.path, { readonly: true });
    const rows = other.prepare('SELECT * FROM tokens_daily').iterate();
    rows.next();
    await commitDay(warehouse, commitOf({ day: '2026-02-02', rows: ROWS }));
    expect(await readUnits(warehouse, 'org_1')).toHaveLength(2);
    rows.return?.();
    other.close();
  });
});

describe('a full disk', () => {
  it('ends with exit code 6 and the path; committed units are whole, and the rest resumes', {
    tags: 'ci/again',
  }, async () => {
    const path = tempFile();
    // The kernel refuses to let a file grow beyond the limit, as it does on a full disk. 512 bytes per block.
    const script = startScript(
      `
      import { openWarehouse } from './src/warehouse/open.ts';
      import { systemClock } from './src/core/clock.ts';
      import { commitDay, commitOf } from './test/support/warehouse/commit-of.ts';
      const warehouse = await openWarehouse(process.env.WAREHOUSE, { clock: systemClock(), create: true });
      const rows = { tokens_daily_by_model: Array.from({ length: 300 }, (_, n) => ['model ' + n, 'standard', n, n, n, n, n, null]) };
      let stored = 0;
      try {
        for (let n = 1; n < 29; n += 1) {
          await commitDay(warehouse, commitOf({ day: '2026-02-' + String(n).padStart(2, '0'), rows }));
          stored += 1;
        }
      } catch (error) {
        console.log(JSON.stringify({ stored, name: error.name, exitCode: error.exitCode, message: error.message, hint: error.hint }));
      }`,
      { env: { WAREHOUSE: path }, limits: "trap '' XFSZ; ulimit -f 1200" },
    );
    const { lines, stderr } = await script.ended;
    expect(stderr).toBe('');
    const end: { stored: number } = JSON.parse(lines[0] ?? '{}');
    expect(end).toMatchObject({
      name: 'StorageError',
      exitCode: 6,
      message: expect.stringContaining(path),
      hint: expect.stringMatching(/disk/),
    });
    expect(end.stored).toBeGreaterThan(0);

    const warehouse = await openTemporary(path);
    const units = await readUnits(warehouse, 'org_1');
    expect(units).toHaveLength(end.stored);
    expect(query(path, 'SELECT COUNT(*) AS n FROM tokens_daily_by_model')).toEqual([{ n: end.stored * 300 }]);
    expect(await commitDay(warehouse, commitOf({ day: '2026-03-01', rows: ROWS }))).toMatchObject({
      rowsWritten: 1,
    });
  });
});

describe('a user who may not write', () => {
  /** Starts a run as an unprivileged user, asserts that it sends no request, and returns how it ended. */
  async function begunUnprivileged(path: string): Promise<unknown> {
    const script = startScript(
      `
      import { openWarehouse } from './src/warehouse/open.ts';
      import { startRun } from './src/records/runs.ts';
      import { systemClock } from './src/core/clock.ts';
      try {
        const warehouse = await openWarehouse(process.env.WAREHOUSE, { clock: systemClock(), create: true });
        await startRun(warehouse, { runId: 'r', command: 'run', startedAt: new Date(), versions: {} });
        console.log('{}');
      } catch ({ name, exitCode, message, hint }) {
        console.log(JSON.stringify({ name, exitCode, message, hint }));
      }`,
      { env: { WAREHOUSE: path }, unprivileged: true },
    );
    return JSON.parse(await firstLine(script));
  }

  testVariants([
    ['the file', 0o444, 0o777],
    ['the folder', 0o666, 0o555],
    ['both', 0o444, 0o555],
  ])('gets exit code 6: not %s', async (_, fileMode, folderMode) => {
    const path = tempFile();
    const warehouse = await openTemporary(path);
    await commitDay(warehouse, commitOf({ rows: ROWS }));
    await warehouse.close();
    chmodSync(path, fileMode);
    chmodSync(dirname(path), folderMode);
    expect(await begunUnprivileged(path)).toMatchObject({
      name: 'StorageError',
      exitCode: 6,
      message: expect.stringContaining(path),
      hint: expect.stringMatching(/folder/),
    });
    chmodSync(dirname(path), 0o700);
  });

  it('gets exit code 6 if nothing can be created there', { tags: 'ci/rare' }, async () => {
    const path = tempFile();
    chmodSync(dirname(path), 0o555);
    expect(await begunUnprivileged(path)).toMatchObject({
      name: 'StorageError',
      exitCode: 6,
      message: expect.stringContaining(path),
    });
    chmodSync(dirname(path), 0o700);
  });
});

describe('a damaged file', () => {
  it('is reported with exit code 6 by every reader', async () => {
    const path = tempFile();
    const many = Array.from(
      { length: 4000 },
      (_, n): Values => [`model ${n}`, 'standard', n, n, n, n, n, null],
    );
    const first = await openTemporary(path);
    await commitDay(first, commitOf({ rows: { tokens_daily_by_model: many } }));
    await first.close();
    const file = openSync(path, 'r+');
    const size = statSync(path).size;
    // The rows were written last, so they are in the last pages.
    for (let at = size - 4096 * 30; at < size; at += 4096) writeSync(file, Buffer.alloc(64, 0xff), 0, 64, at);
    closeSync(file);
    const warehouse = await openTemporary(path);
    const error = await thrownBy(digestOf(warehouse));
    expect(error).toMatchObject({
      name: 'StorageError',
      exitCode: 6,
      hint: expect.stringContaining('backup'),
    });
  });

  it('that was truncated is reported with exit code 6', async () => {
    const path = tempFile();
    const first = await openTemporary(path);
    await commitDay(first, commitOf({ rows: ROWS }));
    await first.close();
    const file = openSync(path, 'r+');
    ftruncateSync(file, 4096 * 3);
    closeSync(file);
    expect(await thrownBy(openTemporary(path).then((warehouse) => digestOf(warehouse)))).toMatchObject({
      name: 'StorageError',
      exitCode: 6,
    });
  });
});

describe('a log that is cut anywhere', () => {
  it('opens, and has only whole days', { tags: 'ci/rare' }, async () => {
    const path = tempFile();
    const warehouse = await openTemporary(path);
    for (let n = 1; n <= 8; n += 1) {
      const rows = {
        tokens_daily: [[n, n, n, n, n, null]],
        tokens_daily_by_model: [['m', null, n, n, n, n, n, null]],
      } as const;
      await commitDay(warehouse, commitOf({ day: `2026-02-0${n}`, rows }));
    }
    const [db, wal] = [readFileSync(path), readFileSync(`${path}-wal`)];
    const counts = new Set<number>();
    for (let cut = 0; cut <= wal.length; cut += Math.ceil(wal.length / 40)) {
      const copy = tempFile();
      writeAll(copy, db);
      writeAll(`${copy}-wal`, wal.subarray(0, cut));
      const reopened = await openTemporary(copy);
      const units = await readUnits(reopened, 'org_1');
      counts.add(units.length);
      for (const table of [tables.tokensDaily, tables.tokensDailyByModel]) {
        const rows: unknown[] = [];
        for await (const chunk of reopened.scan(table)) rows.push(...chunk);
        expect(rows, `cut at ${cut}`).toHaveLength(units.length);
      }
      await reopened.close();
    }
    expect(counts.size).toBeGreaterThan(4);
  });
});

function writeAll(path: string, bytes: Buffer): void {
  const file = openSync(path, 'w');
  if (bytes.length > 0) writeSync(file, bytes);
  closeSync(file);
}
