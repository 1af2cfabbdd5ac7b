// @module-tag campaign/verify

import { readFileSync, writeFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import type { Rig } from '../../support/rig/rig.ts';

const run = (rig: Rig, ...args: string[]) => daywalkInProcess(['verify', ...args], { env: envOf(rig) });

test('daywalk verify ends with 0 and one line of numbers, and sends no request', async () => {
  const rig = await exportedRig({ users: 5, reports: 1 });
  rig.emulator.resetJournal();
  const { code, stdout } = await run(rig);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^verify: every unit matches the ledger\n {2}136 units, [\d,]+ rows, /);
  expect(rig.emulator.journal().requests).toBe(0);
});

test('S5: daywalk verify ends with 5 and names the unit where content differs, for people and for machines', async () => {
  const rig = await exportedRig({ users: 5, reports: 1 });
  await rig.place.execute("UPDATE tools_daily SET web_users = 99 WHERE date = '2026-02-05'");
  const shown = await run(rig);
  expect(shown.code).toBe(5);
  expect(shown.stdout).toMatch(/broken +tools +2026-02-05 +SHA-256/);
  expect(shown.stdout).toContain('daywalk backfill --from D --until D --force');
  const { code, stdout } = await run(rig, '--json', '--against-api', '2', '--seed', '5');
  expect(code).toBe(5);
  expect(JSON.parse(stdout)).toMatchObject({
    units: 136,
    damages: [],
    pulledAgain: { seed: 5, units: 2 },
    counts: { hole: 0, difference: 0, unanswered: 0 },
  });
});

test('S5: daywalk verify ends with 6 on a damaged file, and still reports its findings', async () => {
  const rig = await exportedRig({ users: 5, reports: 1 });
  const db = new Sqlite(rig.path);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const page = Number(
    db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'user_daily'").pluck().get(),
  );
  const size = Number(db.pragma('page_size', { simple: true }));
  db.close();
  const bytes = readFileSync(rig.path);
  bytes.fill(0xff, (page - 1) * size, (page - 1) * size + 64);
  writeFileSync(rig.path, bytes);
  const { code, stdout } = await run(rig, '--json');
  expect(code).toBe(6);
  expect(JSON.parse(stdout).damages.join()).toContain('malformed');
});
