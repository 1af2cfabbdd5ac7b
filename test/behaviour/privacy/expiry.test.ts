import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { publish } from '../../../jobs/publish.ts';
import { tables } from '../../../schema/tables.ts';
import { dataOfPeople, expiresWithUsers } from '../../../scripts/data-map-page.ts';
import { readContents } from '../../../src/archive/answer-queries.ts';
import { ArchiveFile, withArchive } from '../../../src/archive/archive-file.ts';
import { ObjectReader } from '../../../src/archive/objects.ts';
import { FIRST_DAY, parseDay, shiftDay } from '../../../src/core/day.ts';
import { openGate } from '../../../src/policy/index.ts';
import type { Warehouse } from '../../../src/port/index.ts';
import { expirePeople } from '../../../src/sweep/expire.ts';
import { withWarehouse } from '../../../src/warehouse/index.ts';
import { archivedRig, contentsOf } from '../../support/archive/archived-rig.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { deltaRows, pathsIn } from '../../support/publish/delta.ts';
import { begin } from '../../support/rig/exported-rig.ts';
import { daysOf, requestsOf } from '../../support/rig/journal.ts';
import { contextOf, rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-05-03');
/** A hundred days before today: the first day whose people are kept. */
const KEPT = parseDay('2026-01-23');
const SALT = 'a long enough salt for the tests';
const LIMIT = { retainUsers: { count: 100, unit: 'd' } } as const;
const RETAIN = { DAYWALK_RETAIN_USERS: '100d' };
/** What the map of data says that the limit empties. */
const EXPIRING = dataOfPeople()
  .filter(expiresWithUsers)
  .map(({ relation }) => relation);
const TABLES = EXPIRING.filter((relation) => 'key' in relation && relation.columns['date'] !== undefined).map(
  ({ name }) => name,
);

/** The rows of archived answers about some units. */
function archivedRows(folder: string, isMeant: (unit: string) => boolean): Promise<string[]> {
  return withArchive(ArchiveFile.read(folder), async (file) => {
    const reader = new ObjectReader(file);
    const texts: string[] = [];
    for (const answer of readContents(file).answers)
      if (answer.kind === 'day' && answer.object !== null && isMeant(answer.unit))
        texts.push(await reader.get(answer.object));
    return texts;
  });
}

/** Columns that say when something was. */
const TIMES = ['date', 'week_start', 'month', 'first_active_on', 'last_active_on', 'last_seen_on'];

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const KILLED = new Error('killed');

/** A warehouse whose process dies once it has written some times. */
function killedAfter(warehouse: Warehouse, writes: number): Warehouse {
  let left = writes;
  return {
    ...warehouse,
    transact: async (doing, steps, seeing) => {
      if (left <= 0) throw KILLED;
      left -= 1;
      return warehouse.transact(doing, steps, seeing);
    },
  };
}

onEachDatabase((database) => {
  const filled = async () => {
    const rig = await archivedRig({ today, users: 6, reports: 1 }, database);
    await begin(rig, 'a hundred days of six people', async () =>
      expect((await rig.run()).report.exitCode).toBe(0),
    );
    const env = { ...envOf(rig), DAYWALK_NOW: `${today}T04:00:00Z`, DAYWALK_LOG: 'json' };
    const call = (argv: readonly string[], more: Record<string, string> = {}) =>
      daywalkInProcess(argv, { env: { ...env, ...more } });
    const rowsBefore = async (day: string) => {
      const counts: number[] = [];
      for (const table of TABLES)
        counts.push(Number(await rig.value(`SELECT COUNT(*) FROM ${table} WHERE date < '${day}'`)));
      return counts;
    };
    const states = () =>
      rig.column<string>(
        `SELECT state FROM export_units WHERE stream = 'users' AND date < '${KEPT}' ORDER BY date`,
      );
    const usersAsked = () => daysOf(requestsOf(rig), '/users');
    return { rig, call, rowsBefore, states, usersAsked };
  };

  describe('people of days that are older than they are to be kept', () => {
    test('are removed by the next run, which asks for none of their days', { tags: 'ci/rare' }, async () => {
      const { rig, call, rowsBefore, states } = await filled();
      expect(await rowsBefore(KEPT)).not.toContain(0);
      const kept = await rig.value(`SELECT COUNT(*) FROM user_daily WHERE date >= '${KEPT}'`);
      const credits = await rig.value('SELECT SUM(billable_tokens) FROM tokens_daily');
      const { report } = await rig.run({ now: shiftDay(today, 0), settings: LIMIT });
      expect(report).toMatchObject({ exitCode: 0 });
      expect(await rowsBefore(KEPT)).toEqual([0, 0, 0, 0]);
      expect(new Set(await states())).toEqual(new Set(['expired']));
      expect(await rig.value(`SELECT COUNT(*) FROM user_daily WHERE date >= '${KEPT}'`)).toBe(kept);
      expect(await rig.value('SELECT SUM(billable_tokens) FROM tokens_daily')).toBe(credits);
      const verified = await call(['verify']);
      expect(verified.code, verified.stdout + verified.stderr).toBe(0);
      const status = await call(['status', '--json']);
      expect([status.code, status.stderr]).toEqual([0, '']);
      expect(JSON.parse(status.stdout).organizations[0].holes).toEqual([]);
      const sampled = await call(['verify', '--against-api', '600']);
      expect(sampled.code, sampled.stdout + sampled.stderr).toBe(0);
    });

    test('lose the texts of events, also of those before the first day of the service', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, call } = await filled();
      const file = join(tempDir(), 'events.csv');
      writeFileSync(file, `date,text\n2025-12-24,Ada leaves\n${FIRST_DAY},Ada returns\n${KEPT},Ada rests\n`);
      const loaded = await call(['events', 'load', file]);
      expect(loaded.code, loaded.stderr).toBe(0);
      const texts = () => rig.column<string>('SELECT text FROM events ORDER BY date');
      expect(await texts()).toEqual(['Ada leaves', 'Ada returns', 'Ada rests']);
      await rig.run({ settings: LIMIT });
      expect(await texts()).toEqual(['[withheld]', '[withheld]', 'Ada rests']);
    });

    testVariants(['a limit', 'a policy'] as const)(
      'go with %s from the records in quarantine of their credits, also accepted ones',
      async (by) => {
        const { rig, call } = await filled();
        const record = { user_id: 'user_01ABCDEFGH', user_email: 'lena@example.org', billable_tokens: -5 };
        const insert = (path: string, text: string) =>
          rig.place.execute(
            `INSERT INTO quarantine (org_id, stream, date, record_sha256, reason, path, record, first_seen_at, accepted_at)
              SELECT org_id, stream, date, '${sha256(text)}', 'billable_tokens is -5, which is less than 0', '${path}', '${text}',
              '2026-01-15T03:00:00.000Z', '2026-01-15T03:00:00.000Z' FROM export_units WHERE stream = 'tokens' AND date = '${FIRST_DAY}'`,
          );
        await insert('data[0].by_user[0]', JSON.stringify(record));
        await insert('data[0].by_model[0]', JSON.stringify({ model_id: 'atlas-4', billable_tokens: -5 }));
        const kept = () => rig.column<string>("SELECT path FROM quarantine WHERE stream = 'tokens'");
        expect(await kept()).toHaveLength(2);
        if (by === 'a limit') await rig.run({ settings: LIMIT });
        else {
          const none = {
            DAYWALK_EMAILS: 'hash',
            DAYWALK_EMAIL_SALT: SALT,
            DAYWALK_USERS: 'none',
            DAYWALK_ARCHIVE: rig.folder,
          };
          const applied = await call(['privacy', 'apply', '--yes'], none);
          expect(applied.code, applied.stderr).toBe(0);
        }
        expect(await kept()).toEqual(['data[0].by_model[0]']);
      },
    );

    test('are gone from every table and view that the map of data names with this limit', async () => {
      const { rig } = await filled();
      const oldest = () =>
        Promise.all(
          EXPIRING.flatMap(({ name, columns }) =>
            TIMES.filter((time) => columns[time] !== undefined).map(async (time) => ({
              name,
              time,
              value: String(await rig.value(`SELECT MIN(${time}) FROM ${name}`)),
            })),
          ),
        );
      // `thinking_share_by_user` has no time; it is a view of `users`.
      expect(new Set((await oldest()).map(({ name }) => name)).size).toBe(EXPIRING.length - 1);
      const before = await oldest();
      await rig.run({ settings: LIMIT });
      const left = await oldest();
      for (const [index, { name, time, value }] of left.entries()) {
        const from = time === 'month' ? KEPT.slice(0, 7) : time === 'week_start' ? '2026-01-19' : KEPT;
        expect(value >= from, `${name}.${time} from ${value} on`).toBe(true);
        if (time === 'date') expect(value > String(before[index]?.value), name).toBe(true);
      }
    });

    test('are never asked for again, and change nothing in the nights after', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, rowsBefore, usersAsked } = await filled();
      await rig.run({ settings: LIMIT });
      for (let night = 1; night <= 3; night += 1) {
        rig.emulator.resetJournal();
        const { report } = await rig.run({
          now: shiftDay(today, night),
          settings: LIMIT,
          force: night === 3,
        });
        expect(report).toMatchObject({ exitCode: 0, unitsDoubted: 0 });
        const kept = shiftDay(KEPT, night);
        expect(await rowsBefore(kept)).toEqual([0, 0, 0, 0]);
        expect(usersAsked().filter((day) => day < kept)).toEqual([]);
      }
      expect(await rig.value('SELECT COUNT(*) FROM restatements')).toBe(0);
      expect(await rig.value(`SELECT COUNT(*) FROM export_units WHERE state = 'doubted'`)).toBe(0);
    });

    test('are gone from archive, replay, copy and restore, with the same digest everywhere', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, call, rowsBefore } = await filled();
      const folder = tempDir();
      const at = (name: string) => ({
        DAYWALK_WAREHOUSE: join(folder, name),
        DAYWALK_ARCHIVE: rig.folder,
        ...RETAIN,
      });
      const did = async (argv: readonly string[], more: Record<string, string> = {}) => {
        const { code, stdout, stderr } = await call(argv, more);
        expect([argv, code], stdout + stderr).toEqual([argv, 0]);
        return stdout;
      };
      await did(['backup', join(folder, 'before.db')]);
      await did(['copy', '--to', join(folder, 'copied.db')]);
      await rig.run({ settings: LIMIT });
      await did(['verify']);
      const digest = async (more: Record<string, string> = {}) =>
        JSON.parse(await did(['digest', '--json'], more)).sha256;
      const own = await digest();
      expect(await rowsBefore(KEPT)).toEqual([0, 0, 0, 0]);
      const { answers } = await contentsOf(rig.folder);
      const users = answers.filter(({ unit }) => unit.startsWith('users ')).map(({ unit }) => unit);
      expect(users.toSorted()[0]).toBe(`users ${KEPT}`);
      await did(['replay'], at('replayed.db'));
      await did(['restore', join(folder, 'before.db')], { ...at('restored.db'), DAYWALK_ARCHIVE: '' });
      await did(['copy', '--to', join(folder, 'copied.db')]);
      for (const name of ['replayed.db', 'restored.db', 'copied.db']) {
        const more = { ...at(name), DAYWALK_ARCHIVE: '' };
        expect([name, await digest(more)]).toEqual([name, own]);
        await did(['verify'], more);
      }
      const rows = await archivedRows(
        rig.folder,
        (unit) => unit.startsWith('tokens ') && unit < `tokens ${KEPT}`,
      );
      expect([rows.length > 5, rows.join('').includes('user_')]).toEqual([true, false]);
      const keptRows = await archivedRows(rig.folder, (unit) => unit === `tokens ${KEPT}`);
      expect(keptRows.join('')).toContain('user_');
    });

    testVariants(['hash', 'keep'] as const)(
      'under %s come back whole with an older backup if no limit is set, and expire with the next run that has one',
      { tags: 'ci/rare' },
      async (mode) => {
        const { rig, call, rowsBefore, states } = await filled();
        const policy = { DAYWALK_EMAILS: mode, DAYWALK_EMAIL_SALT: SALT, DAYWALK_ARCHIVE: rig.folder };
        const did = async (argv: readonly string[]) => {
          const { code, stdout, stderr } = await call(argv, policy);
          expect([argv, code], stdout + stderr).toEqual([argv, 0]);
        };
        if (mode === 'hash') await did(['privacy', 'apply', '--yes']);
        const emails = mode === 'hash' ? ({ mode, salt: SALT } as const) : { mode };
        const night = { emails };
        const whole = [await rig.digest(), await states()];
        const backup = join(tempDir(), 'before.db');
        await did(['backup', backup]);
        await rig.run({ settings: { ...LIMIT, ...night } });
        const own = await rig.digest();
        expect(await rowsBefore(KEPT)).toEqual([0, 0, 0, 0]);
        await did(['restore', backup, '--replace']);
        expect([await rig.digest(), await states()]).toEqual(whole);
        await did(['verify']);
        await rig.run({ settings: { ...LIMIT, ...night } });
        expect([await rig.digest(), new Set(await states())]).toEqual([own, new Set(['expired'])]);
      },
    );

    testVariants([
      { by: 'a run', isKilled: false },
      { by: 'the run after one that was killed', isKilled: true },
    ] as const)(
      'leave the lakes of Delta tables with every version that had them, by $by',
      async ({ isKilled }) => {
        const { rig, rowsBefore } = await filled();
        const lake = join(tempDir(), 'lake');
        const keep = { count: 7, unit: 'd' } as const;
        const delta = { directory: lake, tables: [tables.userDaily], force: false, keep };
        await publish(rig.settings, { delta }, contextOf(today));
        const days = async () =>
          (await deltaRows(lake, tables.userDaily)).map(([, date]) => String(date)).toSorted();
        const before = pathsIn(lake).filter((path) => path.endsWith('.parquet'));
        expect((await days())[0]).toBe(FIRST_DAY);
        if (isKilled) {
          const kill = () => {
            throw KILLED;
          };
          await expect(rig.run({ settings: LIMIT, onEvent: kill })).rejects.toBe(KILLED);
          expect([await rowsBefore(KEPT), (await days())[0]]).toEqual([[0, 0, 0, 0], FIRST_DAY]);
        }
        await rig.run({ settings: LIMIT });
        expect((await days())[0]).toBe(KEPT);
        const left = pathsIn(lake);
        expect(before.filter((path) => path.includes('month=2026-01') && left.includes(path))).toEqual([]);
      },
    );

    test('are counted by a dry run, and removed by the command with every byte', async () => {
      const { rig, call, rowsBefore } = await filled();
      const more = { ...RETAIN, DAYWALK_ARCHIVE: rig.folder };
      const before = (await rowsBefore(KEPT)).reduce((sum, rows) => sum + rows, 0);
      const counted = await call(['retention', '--dry-run', '--json'], more);
      const { users } = JSON.parse(counted.stdout);
      expect(users).toMatchObject({ before: KEPT, days: 9, rows: before });
      expect(users.answers).toBeGreaterThan(9);
      expect((await rowsBefore(KEPT)).reduce((sum, rows) => sum + rows, 0)).toBe(before);
      const removed = await call(['retention', '--compact', '--json'], more);
      expect(JSON.parse(removed.stdout)).toMatchObject({ users, dry_run: false, compacted: true });
      expect(await rowsBefore(KEPT)).toEqual([0, 0, 0, 0]);
      const again = await call(['retention', '--json'], more);
      expect(JSON.parse(again.stdout).users).toEqual({ before: KEPT, days: 0, rows: 0, answers: 0 });
    });

    test('that come back by SQL are found by verify, and removed by the next run', {
      tags: 'ci/variant',
    }, async () => {
      const { rig, call, rowsBefore } = await filled();
      await rig.run({ settings: LIMIT });
      for (const table of ['user_daily', 'tokens_daily_by_user']) {
        const columns = (await rig.sql(`SELECT * FROM ${table} LIMIT 1`)).flatMap((row) => Object.keys(row));
        const names = columns.join(', ');
        const values = columns.map((name) => (name === 'date' ? `'${FIRST_DAY}'` : name)).join(', ');
        await rig.place.execute(
          `INSERT INTO ${table} (${names}) SELECT ${values} FROM ${table} WHERE date = '${KEPT}'`,
        );
      }
      const verified = await call(['verify']);
      expect([verified.code, verified.stdout]).toEqual([
        5,
        expect.stringContaining('on a day that has expired'),
      ]);
      await rig.run({ settings: LIMIT });
      expect(await rowsBefore(KEPT)).toEqual([0, 0, 0, 0]);
      expect((await call(['verify'])).code).toBe(0);
    });

    test('are not pulled by a first run, nor by a run that names no limit; a longer limit brings them back', {
      tags: 'ci/variant',
    }, async () => {
      const whole = await filled();
      await whole.rig.run({ settings: LIMIT });
      const rig = rigOver(whole.rig.emulator, await database.migrated(), today);
      rig.emulator.resetJournal();
      await rig.run({ settings: LIMIT });
      expect(daysOf(requestsOf(rig), '/users')[0]).toBe(KEPT);
      expect(await rig.digest()).toBe(await whole.rig.digest());
      expect(await rig.value(`SELECT COUNT(*) FROM export_units WHERE state = 'expired'`)).toBe(9);
      const days = () =>
        rig.column<string>(
          `SELECT MIN(date) FROM export_units WHERE stream = 'users' AND state <> 'expired'`,
        );
      for (const settings of [{}, LIMIT]) {
        await rig.run({ settings, force: true });
        expect([await rig.digest(), await days()]).toEqual([await whole.rig.digest(), [KEPT]]);
      }
      const longer = { retainUsers: { count: 105, unit: 'd' } } as const;
      await rig.run({ settings: longer });
      expect(await days()).toEqual([shiftDay(KEPT, -5)]);
      await rig.run({ settings: LIMIT });
      expect([await rig.digest(), await days()]).toEqual([await whole.rig.digest(), [KEPT]]);
    });

    test('stay although a clock is years ahead, and the warning names the clock', {
      tags: 'ci/rare',
    }, async () => {
      const { rig, rowsBefore } = await filled();
      const warned: string[] = [];
      await rig.run({
        ...{ settings: LIMIT, now: parseDay('2028-05-03') },
        onEvent: (event) => void (event.type === 'warning' && warned.push(event.message)),
      });
      // 31 days after the newest day that has come, 2026-05-02.
      const kept = shiftDay(parseDay('2026-05-02'), 31 - 100);
      expect(await rowsBefore(kept)).toEqual([0, 0, 0, 0]);
      expect((await rowsBefore(shiftDay(kept, 1)))[0]).toBeGreaterThan(0);
      expect(warned.join('\n')).toContain(`people of days from ${kept} on stay`);
    });

    test('are removed once, whatever write a kill comes after', { tags: 'ci/variant' }, async () => {
      const { rig, call } = await filled();
      const reference = rigOver(rig.emulator, await database.migrated(), today);
      await reference.run({ settings: LIMIT });
      const wanted = await reference.digest();
      const context = contextOf(today);
      let kills = 0;
      const isKilled = () =>
        withWarehouse(rig.path, { ...context, create: false }, async (warehouse) => {
          const lock = await warehouse.lock();
          try {
            const gate = await openGate(warehouse, { mode: 'keep' }, { usersFrom: KEPT });
            await expirePeople({ ...context, warehouse: killedAfter(warehouse, 1), gate, lock });
            return false;
          } catch (error) {
            expect(error).toBe(KILLED);
            return true;
          } finally {
            await lock.release();
          }
        });
      while (kills < 200 && (await isKilled())) kills += 1;
      expect(kills).toBeGreaterThan(9);
      await rig.run({ settings: LIMIT });
      expect(await rig.digest()).toBe(wanted);
      expect((await call(['verify'])).code).toBe(0);
    });
  });
});
