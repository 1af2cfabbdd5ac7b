import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { meetArchive } from '../../../src/archive/meet-warehouse.ts';
import { DAY, keep, opened, PATIENCE } from '../../support/archive/small-archive.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** Tables that grow with the nights. */
const GROWING = /\bSCAN (a|o|answers|objects|outcomes|meta)\b(?! USING (COVERING )?INDEX outcomes_undecided)/;

test('a night asks the archive only what an index answers, so it costs the same after years', async () => {
  const path = join(tempDir(), 'archive.db');
  const first = await opened(path);
  await keep(first);
  await keep(first, { outcome: null });
  await first.close();
  const warehouse = await open(sqlite);
  const prepare = vi.spyOn(Sqlite.prototype, 'prepare');
  const meeting = await meetArchive({ archive: path, warehouse, ...PATIENCE });
  const night = await opened(path);
  night.holds({ orgId: 'org_1', stream: 'users', day: DAY }, 'x');
  await keep(night, { text: '{"new":1}' });
  const again = await night.beginDays([]);
  await night.end(again, 'committed');
  await night.close();
  await meeting.part(true);
  const { calls, contexts } = prepare.mock;
  const own = calls.filter((_, call) => contexts[call] instanceof Sqlite && contexts[call].name === path);
  const asked = [...new Set(own.map(([sql]) => sql))].filter((sql) => /^(SELECT|INSERT|UPDATE)/.test(sql));
  vi.restoreAllMocks();
  expect(asked.length).toBeGreaterThan(7);
  const db = new Sqlite(path);
  const plans = asked.flatMap((sql) =>
    db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...Array(sql.split('?').length - 1).fill('w*'))
      .map(({ detail }) => detail),
  );
  db.close();
  expect(plans.filter((detail) => GROWING.test(detail))).toEqual([]);
  expect(plans.some((detail) => detail.includes('outcomes_undecided'))).toBe(true);
});
