// @module-tag database-specific

import { expect, test } from 'vitest';
import { exampleQueries } from '../../../schema/reference/examples.ts';
import { allViews } from '../../../schema/views.ts';
import { parseDay } from '../../../src/core/day.ts';
import { createRig, type Rig, rigOver } from '../../support/rig/rig.ts';
import { type Found, onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

/** Digits in which sums of fractions agree, though the databases add them up in different orders. */
const DIGITS = 12;
/** The odd server sends NULL numbers, repositories without a score, and a day that cannot be pulled. */
const SERVER = {
  users: 15,
  reports: 20,
  quirks: { nullMetrics: 0.3, nullNumerators: 0.7, unknownFields: true, cacheFields: true },
  rules: [
    {
      match: { stream: 'tools' as const, day: parseDay('2026-02-05') },
      action: { type: 'status' as const, status: 400 },
    },
  ],
};

/** Rows of which nothing is known, of which databases differ whether they come first or last, and rows that tie. */
const ODD_ROWS = [
  "hook_events VALUES ('', 'e-1', '2026-02-09T10:00:00.500Z', 'Stop', 's-1', NULL, NULL, NULL, '{}')",
  "user_daily (org_id, date, user_id) VALUES ('org_9', '2026-02-01', 'u-1')",
  "tokens_daily_by_model (org_id, date, model_id) VALUES ('org_9', '2026-02-01', 'm-1')",
  "readiness_reports (org_id, report_id, created_at, repo_url) VALUES ('org_9', 'r-1', '2026-02-01T00:00:00.000Z', 'repo')",
  "budgets (org_id, month, team, amount, currency) SELECT org_id, '2026-02', 'nobody', 10.5, 'EUR' FROM tokens_daily GROUP BY org_id",
  "people (org_id, person, valid_from) SELECT org_id, 'seat@example.com', MIN(date) FROM tokens_daily GROUP BY org_id",
];

/** A warehouse in each database, filled from one server, with failures and restatements. */
async function filledPair(): Promise<readonly [lite: Rig, server: Rig]> {
  const lite = await createRig(SERVER);
  const server = rigOver(lite.emulator, postgres.place());
  const range = { from: parseDay('2026-01-30'), settings: { rangeDays: 1 } };
  for (const rig of [lite, server]) await rig.run(range);
  lite.emulator.revise({ kind: 'restate', day: parseDay('2026-02-08') });
  for (const rig of [lite, server]) {
    expect((await rig.run(range)).report.exitCode).toBe(4);
    for (const row of ODD_ROWS) await rig.place.execute(`INSERT INTO ${row}`);
  }
  return [lite, server];
}

const rounded = (rows: readonly Found[]) =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'number' ? Number(value.toPrecision(DIGITS)) : value,
      ]),
    ),
  );

onDatabase(postgres, () => {
  test('returns the rows of SQLite for every view and every example query', {
    tags: 'ci/again',
  }, async () => {
    const [lite, server] = await filledPair();
    for (const { name, columns } of allViews) {
      const keys = Object.entries(columns).filter(([, { kind }]) => kind === 'key' || kind === 'day');
      const sql = `SELECT * FROM ${name} ORDER BY ${keys.map(([key]) => key).join(', ')}`;
      const expected = await lite.sql(sql);
      expect(expected.length, name).toBeGreaterThan(0);
      expect(rounded(await server.sql(sql)), name).toEqual(rounded(expected));
    }
    for (const { id, sql } of Object.values(exampleQueries)) {
      const expected = await lite.sql(sql);
      expect(expected.length, id).toBeGreaterThan(0);
      expect(rounded(await server.sql(sql)), id).toEqual(rounded(expected));
    }
  });
});
