// @module-tag campaign/verify

import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { exitCodeOf, verifyWarehouse } from '../../../jobs/verify.ts';
import { allTables, contentTables, tables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { DaywalkError } from '../../../src/core/errors.ts';
import { contextOf, createRig, type Rig, TODAY } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const isLongCampaign = process.env['DAYWALK_CHAOS'] === '1';
const FLIPS = isLongCampaign ? 3_000 : 40;
const SEED = Number(process.env['DAYWALK_SEED'] ?? Math.floor(Math.random() * 1e9));

/** Whole numbers below a bound, the same for the same seed (a linear congruence modulo a prime). */
function draws(seed: number): (bound: number) => number {
  let state = BigInt(seed) + 1n;
  return (bound) => {
    state = (state * 48_271n) % 2_147_483_647n;
    return Number(state % BigInt(bound));
  };
}

/** A warehouse as one file without a log. */
async function savedWarehouse(): Promise<{ rig: Rig; bytes: Buffer }> {
  const rig = await createRig({ users: 15, reports: 3 });
  await rig.run({ from: parseDay('2026-02-06') });
  const db = new Sqlite(rig.path);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  return { rig, bytes: readFileSync(rig.path) };
}

/** What verify checks row by row. A flipped mark only makes its rollup stale. */
const CHECKED = [...contentTables, ...allTables.filter(({ role }) => role === 'rollup')].filter(
  (table) => table !== tables.rollupMarks,
);

/** The content of the service and the rollups, read without indexes as by another program; null if it is unreadable. */
function contentOf(path: string): string | null {
  const db = new Sqlite(path, { readonly: true });
  try {
    return JSON.stringify(
      CHECKED.map(({ name, columns }) => {
        const values = Object.keys(columns).map((column) => `quote("${column}")`);
        return db
          .prepare(`SELECT ${values.join(', ')} FROM "${name}" NOT INDEXED`)
          .raw()
          .all()
          .sort();
      }),
    );
  } catch (error) {
    if (error instanceof Sqlite.SqliteError) return null;
    throw error;
  } finally {
    db.close();
  }
}

async function exitOf(rig: Rig, path: string): Promise<number> {
  try {
    const settings = { ...rig.settings, warehouse: path };
    return exitCodeOf(await verifyWarehouse(settings, { againstApi: 0 }, contextOf(TODAY)));
  } catch (error) {
    if (error instanceof DaywalkError) return error.exitCode;
    throw error;
  }
}

test(`S5: every flipped byte that changes content is found (${FLIPS} bytes, DAYWALK_SEED=${SEED})`, {
  tags: 'ci/again',
}, async () => {
  const { rig, bytes } = await savedWarehouse();
  const folder = tempDir();
  const path = join(folder, 'flipped.db');
  copyFileSync(rig.path, path);
  const intact = contentOf(path);
  expect(await exitOf(rig, path)).toBe(0);
  // Most of a small file is zeros between the rows.
  const filled = [...bytes.keys()].filter((offset) => bytes[offset] !== 0);
  const draw = draws(SEED);
  const codes = new Map<number, number>();
  let altered = 0;
  const missed: string[] = [];
  for (let flip = 0; flip < FLIPS; flip += 1) {
    const offset = filled[draw(filled.length)] ?? 0;
    const mask = 1 + draw(255);
    const changed = Buffer.from(bytes);
    changed.writeUInt8((changed[offset] ?? 0) ^ mask, offset);
    for (const side of ['', '-wal', '-shm']) rmSync(path + side, { force: true });
    writeFileSync(path, changed);
    const content = contentOf(path);
    const code = await exitOf(rig, path);
    codes.set(code, (codes.get(code) ?? 0) + 1);
    if (content === intact) continue;
    altered += 1;
    if (code === 0) missed.push(`byte ${offset} XOR ${mask}`);
  }
  const numbers = `${FLIPS} flipped bytes, ${altered} altered content, ${altered - missed.length} of them found`;
  process.stdout.write(`${numbers}; exit codes ${JSON.stringify(Object.fromEntries(codes))}, seed ${SEED}\n`);
  expect(missed).toEqual([]);
  expect(altered).toBeGreaterThan(FLIPS / 4);
  // 5: content differs; 6: the file is damaged; 2: it says that it belongs to another program or version.
  expect([0, 2, 5, 6]).toEqual(expect.arrayContaining([...codes.keys()]));
});
