import { cpSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { replay } from '../../../jobs/replay.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { daysFrom, parseDay, shiftDay } from '../../../src/core/day.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import { archivedRig, contentsOf, fatesOf } from '../../support/archive/archived-rig.ts';
import { eraseFrom } from '../../support/erase/erase-rig.ts';
import { contextOf, rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** A Friday: somebody was active on each of the days before it. */
const today = parseDay('2026-01-30');
const SMALL = { today, users: 12, reports: 8 };
const night = (day: string) => ({ now: parseDay(day) });

onEachDatabase((database) => {
  describe('a replay', () => {
    test('into an empty warehouse has the digest of the runs, and the same ledger', async () => {
      const rig = await archivedRig(SMALL, database);
      rig.emulator.setQuirks({ unknownFields: true });
      for (const now of daysFrom(parseDay('2026-01-28'), today)) {
        await rig.run({ now });
        rig.emulator.revise({ kind: 'restate', day: shiftDay(now, -1) });
        rig.emulator.revise({ kind: 'vanish-languages', day: shiftDay(now, -1), count: 1 });
        rig.emulator.revise({ kind: 'add-reports', count: 2 });
      }
      rig.emulator.revise({ kind: 'delete-report' });
      rig.emulator.revise({ kind: 'change-report' });
      await rig.run({
        command: 'backfill',
        from: shiftDay(today, -4),
        until: shiftDay(today, -1),
        force: true,
      });
      const { rig: copy, result } = await rig.replayInto();
      expect(result.exitCode).toBe(0);
      expect(await copy.digest()).toBe(await rig.digest());
      const ledger = (of: Pick<typeof rig, 'sql'>) =>
        of.sql<{ stream: string; date: string; state: string }>(
          // The archive keeps the newest answer of a day, which is one look: it settles after further ones.
          "SELECT stream, date, REPLACE(state, 'empty', 'awaiting') AS state, rows, content_sha256, last_pulled_at FROM export_units ORDER BY 1, 2",
        );
      const [stored, replayed] = [await ledger(rig), await ledger(copy)];
      // The answers that are doubted are not replayed, so only the content of these days is the same.
      const isDoubted = ({ stream, date }: { readonly stream: string; readonly date: string }) =>
        stored.some((unit) => unit.state === 'doubted' && unit.stream === stream && unit.date === date);
      expect(stored.filter(isDoubted).length).toBeLessThan(5);
      expect(replayed.filter((unit) => !isDoubted(unit))).toEqual(stored.filter((unit) => !isDoubted(unit)));
      expect(await copy.value('SELECT count(*) FROM users')).toBe(
        await rig.value('SELECT count(*) FROM users'),
      );
    });

    test('exits as the run did beside records in quarantine, and counts those of what it replays', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await archivedRig(SMALL, database);
      const day = parseDay('2026-01-20');
      const operations = [{ op: 'set' as const, path: '/data/0/tool_calls', value: 'many' }];
      rig.emulator.setRules([{ match: { stream: 'users', day }, action: { type: 'patch', operations } }]);
      expect((await rig.run({ settings: { rangeDays: 1 } })).report).toMatchObject({
        exitCode: 5,
        quarantined: 1,
      });
      const { rig: copy, result } = await rig.replayInto();
      expect(await copy.digest()).toBe(await rig.digest());
      expect(result).toMatchObject({ exitCode: 5, organizations: [{ quarantined: [`users ${day}`] }] });
      expect(await copy.value('SELECT exit_code FROM export_runs')).toBe(5);
      expect((await rig.replay({ streams: ['tokens'] })).exitCode).toBe(0);
      expect((await rig.replay()).exitCode).toBe(5);
      // A run over later days alone does not count them either.
      await rig.run({ settings: { firstDay: shiftDay(day, 1) } });
      expect((await rig.replay({ until: day })).exitCode).toBe(0);
    });

    test('as of an instant has the digest of that night, and needs an empty warehouse', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await archivedRig(SMALL, database);
      const digests: [instant: Date, digest: string][] = [];
      for (const now of daysFrom(parseDay('2026-01-27'), today)) {
        await rig.run({ now });
        digests.push([new Date(`${now}T03:00:01Z`), await rig.digest()]);
        rig.emulator.revise({ kind: 'restate', day: shiftDay(now, -1) });
        rig.emulator.revise({ kind: 'delete-report' });
        rig.emulator.revise({ kind: 'add-reports', count: 1 });
      }
      expect(new Set(digests.map(([, digest]) => digest)).size).toBe(4);
      for (const [asOf, digest] of digests) {
        const { rig: past } = await rig.replayInto({ asOf });
        expect(await past.digest()).toBe(digest);
      }
      await expect(rig.replay({ asOf: digests[1]?.[0] })).rejects.toMatchObject({ exitCode: 2 });
    });

    test('into the live warehouse repairs what somebody changed, and writes nothing else', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await archivedRig(SMALL, database);
      await rig.run();
      const digest = await rig.digest();
      const [stored] = (await rig.replay()).organizations;
      expect(stored).toMatchObject({ stored: 0, rowsWritten: 0, newer: [] });
      await rig.place.execute("UPDATE user_daily SET sessions = 999 WHERE date = '2026-01-20'");
      await rig.place.execute("DELETE FROM tokens_daily_by_model WHERE date = '2026-01-21'");
      expect(await rig.digest()).not.toBe(digest);
      const [repaired] = (await rig.replay()).organizations;
      expect(repaired).toMatchObject({ stored: 2, newer: [] });
      expect(await rig.digest()).toBe(digest);
      expect(await rig.value('SELECT count(*) FROM restatements')).toBe(0);
    });

    test('never stores an answer that was doubted, and leaves what was pulled later', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await archivedRig({ ...SMALL, users: 40 }, database);
      const young = parseDay('2026-01-23');
      await rig.run(night('2026-01-24'));
      const digest = await rig.digest();
      rig.emulator.setQuirks({ lies: { lateDays: [young] } });
      const doubting = await rig.run(night('2026-01-24'));
      expect(doubting.report.exitCode, JSON.stringify(doubting.events)).toBe(5);
      expect(await fatesOf(rig.folder, 'users', young)).toEqual(['believed committed', 'doubted dropped']);
      expect(await (await rig.replayInto()).rig.digest()).toBe(digest);
      rig.emulator.setQuirks({ lies: {} });
      // A night without an archive: the warehouse knows more than the archive then.
      rig.emulator.revise({ kind: 'restate', day: young });
      await rig.run({ ...night('2026-01-25'), settings: { archives: [], leavesArchiveOut: true } });
      const later = await rig.digest();
      const result = await rig.replay();
      expect(result.exitCode).toBe(4);
      expect(result.organizations[0]?.newer).toContain(`users ${young}`);
      expect(await rig.digest()).toBe(later);
    });
  });

  test('a replay restores what later runs have asked for in vain', { tags: 'ci/rare' }, async () => {
    const rig = await archivedRig(SMALL, database);
    await rig.run();
    const twin = rigOver(rig.emulator, await database.migrated(), today);
    const action = { type: 'status', status: 500 } as const;
    const day = parseDay('2026-01-20');
    rig.emulator.setRules([
      { match: { stream: 'users', day }, action },
      { match: { stream: 'readiness' }, action },
    ]);
    const later = systemClock(new Date(`${today}T05:00:00Z`));
    const { report } = await twin.run({ clock: later, settings: { rangeDays: 1, attempts: 1 } });
    expect([report.exitCode, report.unitsFailed]).toEqual([4, 2]);
    const settings = { ...twin.settings, archives: [rig.folder], apiKey: null, baseUrl: null };
    const result = await replay(settings, { streams: STREAMS, wait: false }, contextOf(today));
    expect(result).toMatchObject({ exitCode: 0, organizations: [{ newer: [], stored: 2 }] });
    expect(await twin.digest()).toBe(await rig.digest());
  });

  describe('the archive of another warehouse', () => {
    const other = { ...SMALL, seed: 7 };

    test('brings no organization into one that is in use', { tags: 'ci/rare' }, async () => {
      const [rig, stranger] = [await archivedRig(SMALL, database), await archivedRig(other, database)];
      await rig.run();
      await stranger.run();
      const before = await rig.sql(
        'SELECT org_id, name FROM export_state UNION ALL SELECT org_id, stream FROM export_units ORDER BY 1, 2',
      );
      await expect(rig.replay({}, { archives: [stranger.folder] })).rejects.toMatchObject({
        exitCode: 6,
        reason: 'identity',
        message: expect.stringMatching(
          /^expected an archive that knows this warehouse, .* nothing was written$/,
        ),
      });
      expect(
        await rig.sql(
          'SELECT org_id, name FROM export_state UNION ALL SELECT org_id, stream FROM export_units ORDER BY 1, 2',
        ),
      ).toEqual(before);
    });

    test('is joined with others into a new one, also by a repetition, and repairs days of its own organization', {
      tags: 'ci/rare',
    }, async () => {
      const [rig, stranger] = [await archivedRig(SMALL, database), await archivedRig(other, database)];
      await rig.run();
      await stranger.run();
      const archives = [rig.folder, stranger.folder];
      const { rig: joined, result } = await rig.replayInto({ streams: ['tokens'] }, { archives });
      expect([result.exitCode, result.organizations.length]).toEqual([0, 2]);
      const again = (place: typeof joined, from: string[]) =>
        replay(
          { ...place.settings, archives: from, apiKey: null, baseUrl: null },
          { streams: STREAMS, wait: false },
          contextOf(today),
        );
      expect((await again(joined, archives)).organizations.map(({ stored }) => stored > 0)).toEqual([
        true,
        true,
      ]);
      const twin = rigOver(rig.emulator, await database.migrated(), today);
      await twin.run();
      await twin.place.execute("UPDATE tokens_daily SET input_tokens = 1 WHERE date = '2026-01-20'");
      expect((await again(twin, [rig.folder])).organizations).toMatchObject([{ stored: 1 }]);
    });
  });

  test('leaves out an organization that was erased, rebuilds the others, and sweeps the archive', {
    tags: 'ci/rare',
  }, async () => {
    const [rig, gone] = [
      await archivedRig(SMALL, database),
      await archivedRig({ ...SMALL, seed: 7 }, database),
    ];
    await rig.run();
    await gone.run();
    // As a volume of a day before has it.
    const [copied, alone, erasures] = [tempDir(), tempDir(), join(tempDir(), 'erasures')];
    for (const folder of [copied, alone]) cpSync(gone.folder, folder, { recursive: true });
    await eraseFrom(gone, { organization: gone.emulator.orgId }, { erasures });
    const older = { archives: [copied, rig.folder], erasures };
    const { result } = await rig.replayInto({ streams: ['tokens'] }, older);
    expect(result.organizations).toMatchObject([{ orgId: rig.emulator.orgId, exitCode: 0 }]);
    expect((await contentsOf(copied)).answers).toEqual([]);
    expect((await contentsOf(rig.folder)).answers).not.toEqual([]);
    // An archive that has nobody else gives nothing.
    const none = await rig.replayInto({ streams: ['tokens'] }, { archives: [alone], erasures });
    expect(none.result.organizations).toEqual([]);
    expect((await contentsOf(alone)).answers).toEqual([]);
  });

  test('a replay that is refused leaves no warehouse behind', { tags: 'ci/rare' }, async () => {
    const rig = await archivedRig(SMALL, sqlite);
    await rig.run();
    const archive = new Sqlite(join(rig.folder, 'archive.db'));
    archive.pragma('user_version = 99');
    archive.close();
    const warehouse = join(tempDir(), 'new.db');
    await expect(rig.replay({}, { warehouse })).rejects.toThrow(/a newer version of daywalk/);
    expect(readdirSync(dirname(warehouse))).toEqual([]);
  });

  describe('the archive of a warehouse without emails', () => {
    const policies = [{ mode: 'hash', salt: 'a long enough salt for the tests' }, { mode: 'drop' }] as const;
    testVariants(policies)(
      '$mode: has none either, and replays to the same digest',
      { tags: 'ci/rare' },
      async (emails) => {
        const rig = await archivedRig(SMALL, database, { emails });
        rig.emulator.setQuirks({ unknownFields: true });
        await rig.run();
        const { rig: copy } = await rig.replayInto();
        expect(await copy.digest()).toBe(await rig.digest());
        await expect(rig.replayInto({}, { emails: { mode: 'keep' } })).resolves.toBeDefined();
        if (emails.mode === 'drop') return;
        const otherSalt = { mode: 'hash', salt: 'another long enough salt for tests' } as const;
        await expect(rig.replayInto({}, { emails: otherSalt })).rejects.toThrow(/another salt/);
      },
    );

    testVariants(policies)(
      '$mode: answers that have them are replayed as a run under this policy stores them',
      { tags: 'ci/rare' },
      async (emails) => {
        const rig = await archivedRig(SMALL, database);
        rig.emulator.setQuirks({ unknownFields: true });
        await rig.run();
        const { rig: replayed } = await rig.replayInto({}, { emails });
        const own = await archivedRig(SMALL, database, { emails });
        own.emulator.setQuirks({ unknownFields: true });
        await own.run();
        expect(await replayed.digest()).toBe(await own.digest());
        expect(await replayed.digest()).not.toBe(await rig.digest());
      },
    );
  });
});
