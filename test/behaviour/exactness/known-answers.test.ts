import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { ClaimLostError } from '../../../src/core/errors.ts';
import { readUnits } from '../../../src/ledger/ledger.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-23');
/** One day per request: an unchanged range answer cannot be attributed to single days. */
const settings = { rangeDays: 1 };

/** What the ledger keeps of young days, by unit. */
async function answersOf(rig: Rig): Promise<Map<string, unknown>> {
  const rows = await rig.sql<{ stream: string; date: string; answers_sha256: string | null }>(
    "SELECT stream, date, answers_sha256 FROM export_units WHERE date >= '2026-01-21' AND settled_at IS NULL",
  );
  return new Map(rows.map(({ stream, date, answers_sha256 }) => [`${stream} ${date}`, answers_sha256]));
}

onEachDatabase((database) => {
  describe('a day with the same answers as before', () => {
    test('is unchanged without a comparison of its rows', async () => {
      const rig = await exportedRig({ today, users: 5 }, { database }, { settings });
      expect([...(await answersOf(rig)).values()].every((answers) => answers !== null)).toBe(true);
      // A wrong digest. A run that compared the content with it would notice the difference.
      const planted = 'f'.repeat(64);
      await rig.place.execute(
        `UPDATE export_units SET content_sha256 = '${planted}' WHERE settled_at IS NULL AND date <> ''`,
      );
      const { report } = await rig.run({ settings });
      expect(report).toMatchObject({ exitCode: 0, rowsWritten: 0, restatements: 0, unitsDone: 11 });
      const found = await rig.column(
        "SELECT DISTINCT content_sha256 FROM export_units WHERE settled_at IS NULL AND date <> ''",
      );
      expect(found).toEqual([planted]);
    });

    test('is compared when the answers digest of the ledger differs', async () => {
      const rig = await exportedRig({ today, users: 5 }, { database }, { settings });
      const digest = await rig.digest();
      await rig.place.execute(`UPDATE export_units SET answers_sha256 = '?' WHERE date <> ''`);
      const { report } = await rig.run({ settings });
      expect(report).toMatchObject({ exitCode: 0, rowsWritten: 0 });
      expect(await rig.digest()).toBe(digest);
    });

    test('is compared with --force', async () => {
      const rig = await exportedRig({ today, users: 5 }, { database }, { settings });
      const digest = await rig.digest();
      await rig.place.execute("DELETE FROM user_daily WHERE date = '2026-01-22'");
      await rig.run({ settings, force: true });
      expect(await rig.digest()).toBe(digest);
    });

    test('is stored again when the email policy has changed', async () => {
      const dropping = { ...settings, emails: { mode: 'drop' } } as const;
      const rig = await exportedRig({ today, users: 5 }, { database }, { settings: dropping });
      const emails = () =>
        rig.column(
          "SELECT DISTINCT user_email FROM user_daily WHERE date = '2026-01-22' AND user_email IS NOT NULL",
        );
      expect(await emails()).toEqual([]);
      await rig.run({ settings });
      expect(await emails()).not.toEqual([]);
    });
  });

  describe('a day with other answers than before', () => {
    test('is compared and replaced, and its new answers digest is recorded', async () => {
      const rig = await exportedRig({ today, users: 5 }, { database }, { settings });
      const before = await answersOf(rig);
      rig.emulator.revise({ kind: 'restate', day: parseDay('2026-01-22') });
      const { report } = await rig.run({ settings });
      expect(report.restatements).toBeGreaterThan(0);
      const after = await answersOf(rig);
      expect(after.get('users 2026-01-22')).not.toEqual(before.get('users 2026-01-22'));
      expect(after.get('users 2026-01-21')).toEqual(before.get('users 2026-01-21'));
      const fresh = await createRig({ today, users: 5 }, { database });
      fresh.emulator.revise({ kind: 'restate', day: parseDay('2026-01-22') });
      await fresh.run({ settings });
      expect(await rig.digest()).toBe(await fresh.digest());
    });
  });

  describe('a commit of unchanged content', () => {
    test('keeps every row and counts them', async () => {
      const warehouse = await open(database);
      const stored = commitOf({ rows: { tokens_daily_by_model: [['m', 'standard', 1, 2, 3, 4, 5, null]] } });
      await commitDay(warehouse, stored);
      const again = { ...stored, tables: [], unchanged: { rows: 1 }, answersSha256: 'a' };
      expect(await commitDay(warehouse, again)).toMatchObject({ rowsWritten: 0, restated: false });
      const [unit] = await readUnits(warehouse, 'org_1');
      expect(unit).toMatchObject({
        rows: 1,
        attempts: 2,
        contentSha256: stored.contentSha256,
        answersSha256: 'a',
      });
      expect(await warehouse.place.query('SELECT * FROM tokens_daily_by_model')).toHaveLength(1);
    });

    test('is refused if other content is stored', async () => {
      const warehouse = await open(database);
      const stored = commitOf({ rows: { tokens_daily_by_model: [['m', 'standard', 1, 2, 3, 4, 5, null]] } });
      await commitDay(warehouse, stored);
      const mistaken = { ...stored, tables: [], unchanged: { rows: 1 }, contentSha256: '0'.repeat(64) };
      expect(await thrownBy(commitDay(warehouse, mistaken))).toBeInstanceOf(ClaimLostError);
      const [unit] = await readUnits(warehouse, 'org_1');
      expect(unit).toMatchObject({ attempts: 1, contentSha256: stored.contentSha256 });
    });
  });
});
