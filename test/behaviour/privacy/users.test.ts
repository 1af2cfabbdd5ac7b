import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import type { EmailPolicy } from '../../../src/privacy/gate.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-24');
const SMALL = { today, users: 10, reports: 4 };
const SALT = 'a long enough salt for the tests';
const PSEUDONYM: EmailPolicy = { mode: 'hash', salt: SALT, users: 'pseudonym' };
const NONE: EmailPolicy = { mode: 'hash', salt: SALT, users: 'none' };
const HASH: EmailPolicy = { mode: 'hash', salt: SALT };

/** Tables and columns about one person each. */
const OF_PERSONS = ['user_daily', 'users', 'tokens_daily_by_user', 'hook_events', 'people', 'user_weekly'];

onEachDatabase((database) => {
  const exported = async (policy: EmailPolicy) => {
    const rig = await archivedRig(SMALL, database);
    const service = await rewritingService(rig.emulator.url);
    // Names and texts quote the ID of somebody.
    service.rewrite((text) => {
      const id = /user_[0-9A-Za-z]+/.exec(text)?.[0] ?? 'user_01ABCDEFGH';
      return text
        .replaceAll('"rationale":"', `"rationale":"ask ${id}: `)
        .replaceAll('"command":"', `"command":"su ${id}; `)
        .replaceAll('"tool":"', `"tool":"${id} `);
    });
    const settings = { baseUrl: service.url, appUrl: service.url };
    const run = (emails: EmailPolicy, more = {}) => rig.run({ settings: { ...settings, emails }, ...more });
    const env = {
      ...envOf(rig, { DAYWALK_BASE_URL: service.url, DAYWALK_APP_URL: service.url }),
      DAYWALK_ARCHIVE: rig.folder,
      DAYWALK_NOW: '2026-01-24T04:00:00Z',
      DAYWALK_EMAILS: 'hash',
      DAYWALK_EMAIL_SALT: SALT,
    };
    const call = (users: string, ...args: string[]) =>
      daywalkInProcess(args, { env: { ...env, DAYWALK_USERS: users } });
    const found = (texts: readonly string[]) =>
      placesOf(texts, { place: rig.place, archive: rig.folder, spool: '' });
    const { report } = await run(policy);
    return { rig, run, call, found, report };
  };

  describe('a policy of users', () => {
    test('pseudonym: no ID is stored, and every number is that of the user', async () => {
      const { rig, run, found, report } = await exported(PSEUDONYM);
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      expect(await found(['user_0'])).toEqual([]);
      const users = await rig.column<string>('SELECT DISTINCT user_id FROM user_daily');
      expect(users.length).toBeGreaterThan(3);
      for (const user of users) expect(user).toMatch(/^person-[0-9a-f]{32}$/);
      expect((await run(PSEUDONYM, { force: true, command: 'backfill' })).report).toMatchObject({
        exitCode: 0,
        restatements: 0,
        rowsWritten: 0,
      });
      const { rig: replayed } = await rig.replayInto({}, { emails: PSEUDONYM });
      expect(await replayed.digest()).toBe(await rig.digest());
    });

    test('none: nothing about one person is stored or expected, and the totals stay', async () => {
      const { rig, run, found, report } = await exported(NONE);
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      expect(await found(['user_0', 'ask ', 'su '])).toEqual([]);
      for (const table of OF_PERSONS)
        expect([table, await rig.column(`SELECT COUNT(*) FROM ${table}`)]).toEqual([table, [0]]);
      expect(await rig.column("SELECT COUNT(*) FROM export_units WHERE stream = 'users'")).toEqual([0]);
      expect(await rig.column('SELECT COUNT(*) FROM tokens_daily')).not.toEqual([0]);
      expect(await rig.column('SELECT streams FROM contracts')).toEqual([
        'tokens,tools,activity,productivity,readiness,-users',
      ]);
      const since = await rig.column('SELECT changed_at FROM contracts');
      const later = new FakeClock({ now: `${today}T05:00:00Z`, auto: true });
      const again = await run(NONE, { force: true, command: 'backfill', clock: later });
      expect(again.report).toMatchObject({ rowsWritten: 0 });
      expect(await rig.column('SELECT changed_at FROM contracts')).toEqual(since);
      expect(await thrownBy(run(NONE, { streams: ['users'] }))).toMatchObject({ exitCode: 2 });
      const { rig: replayed } = await rig.replayInto({}, { emails: NONE });
      expect(await replayed.digest()).toBe(await rig.digest());
    });

    testVariants([PSEUDONYM, NONE] as const)(
      '$users: is applied to everything that is stored',
      async (policy) => {
        const { rig, run, call, found } = await exported(HASH);
        const { users = 'keep' } = policy as { users?: string };
        expect(await found(['user_0'])).not.toEqual([]);
        const totals = await rig.column('SELECT SUM(billable_tokens) FROM tokens_daily');
        expect(await thrownBy(run(policy))).toMatchObject({ exitCode: 2, reason: 'policy-not-applied' });
        const applied = await call(users, 'privacy', 'apply', '--yes', '--json');
        expect(applied.code, applied.stderr).toBe(0);
        expect(await found(['user_0'])).toEqual([]);
        expect(await rig.column('SELECT SUM(billable_tokens) FROM tokens_daily')).toEqual(totals);
        const verified = await call(users, 'verify');
        expect(verified.code, verified.stdout).toBe(0);
        const { report } = await run(policy, { force: true, command: 'backfill' });
        expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0, restatements: 0, rowsWritten: 0 });
        const { rig: replayed } = await rig.replayInto({}, { emails: policy });
        expect(await replayed.digest()).toBe(await rig.digest());
        expect((await call(users, 'status', '--health')).code).toBe(0);
        if (users === 'none') {
          for (const table of OF_PERSONS)
            expect([table, await rig.column(`SELECT COUNT(*) FROM ${table}`)]).toEqual([table, [0]]);
        }
      },
    );
  });

  test('a person with a pseudonym is named by the ID that the service knows', {
    tags: 'ci/variant',
  }, async () => {
    const { rig, call } = await exported(HASH);
    const [user = ''] = await rig.column<string>('SELECT MIN(user_id) FROM user_daily');
    const early = await call('pseudonym', 'person', 'show', '--user', user, '--json');
    expect(early.code, early.stderr).toBe(0);
    expect((await call('pseudonym', 'privacy', 'apply', '--yes')).code).toBe(0);
    const shown = await call('pseudonym', 'person', 'show', '--user', user, '--json');
    expect(shown.code, shown.stderr).toBe(0);
    const erased = await call('pseudonym', 'erase', '--user', user);
    expect(erased.code, erased.stderr).toBe(0);
    expect(
      await rig.column("SELECT COUNT(DISTINCT user_id) FROM user_daily WHERE user_id LIKE 'erased-%'"),
    ).toEqual([1]);
  });
});
