import { describe, expect, onTestFinished, test } from 'vitest';
import { applyPolicy } from '../../../jobs/privacy.ts';
import { parseDay } from '../../../src/core/day.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import type { Rule } from '../../../src/emulator/faults/rules.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { eraseFrom } from '../../support/erase/erase-rig.ts';
import { createOrganizationsRig } from '../../support/organizations/organizations-rig.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { CANARY_KEY } from '../../support/rig/canary-key.ts';
import { requestsOf } from '../../support/rig/journal.ts';
import { contextOf, type Rig } from '../../support/rig/rig.ts';
import { afterNights, nights } from '../../support/trust/run-nights.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const NIGHT = parseDay('2026-02-21');
const USERS = { users: 40 };
/** The nights after which a warehouse holds a month. */
const STORED = ['2026-02-20', '2026-02-20'] as const;

/** A service for the same key: the data of another organization, by default under the ID of the one that is stored. */
async function otherService(
  rig: Rig,
  options: Partial<EmulatorOptions> = {},
): Promise<{ readonly settings: Partial<Settings> }> {
  const other = await startEmulator({
    realistic: true,
    ...{ today: '2026-03-25', users: 40, reports: 0, seed: 99 },
    ...{ apiKey: CANARY_KEY, orgId: rig.emulator.orgId },
    ...options,
  });
  onTestFinished(() => other.close());
  return { settings: { baseUrl: other.url, appUrl: other.url } };
}

async function contentOf(rig: Rig) {
  return {
    facts: await rig.digest(),
    units: await rig.sql('SELECT * FROM export_units ORDER BY org_id, stream, date'),
    restatements: await rig.value('SELECT COUNT(*) FROM restatements'),
  };
}

async function statusOf(rig: Rig, flags: readonly string[] = ['--json']) {
  return (await daywalkInProcess(['status', ...flags], { env: envOf(rig) })).stdout;
}

async function refusalsOf(rig: Rig) {
  return JSON.parse(await statusOf(rig)).refusals;
}

onEachDatabase((database) => {
  describe('a key whose answers are about other users', () => {
    test('stores nothing, is named by status since its first night, and ends when the known organization answers', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await afterNights(database, STORED, USERS);
      const before = await contentOf(rig);
      const other = await otherService(rig);
      const ran = await nights(rig, '2026-02-21', '2026-02-23', other);
      for (const { report } of ran)
        expect(report).toMatchObject({ exitCode: 5, rowsWritten: 0, orgId: null });
      expect(ran[0]?.report.problems[0]?.message).toContain('the users of stored days are others');
      expect(await contentOf(rig)).toEqual(before);
      expect(await refusalsOf(rig)).toMatchObject([
        { orgId: rig.emulator.orgId, rule: 'foreign-users', since: '2026-02-21T03:00:00.000Z' },
      ]);
      expect(await statusOf(rig, [])).toMatch(/refused .*2026-02-21.*--accept-organization/s);
      const [back] = await nights(rig, '2026-02-24', '2026-02-24');
      expect(back?.report).toMatchObject({ exitCode: 0, unitsDoubted: 0 });
      expect(await refusalsOf(rig)).toEqual([]);
    });

    test('is stored after --accept-organization, which accepts only what an earlier run refused', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await afterNights(database, STORED, USERS);
      const before = await contentOf(rig);
      const other = { ...(await otherService(rig)), acceptOrganization: true };
      expect((await rig.run({ ...other, now: NIGHT })).report).toMatchObject({ exitCode: 5, rowsWritten: 0 });
      expect(await contentOf(rig)).toEqual(before);
      // A third organization, which nobody has seen refused, is refused in its turn.
      const third = { ...(await otherService(rig, { seed: 7 })), acceptOrganization: true };
      expect((await rig.run({ ...third, now: NIGHT })).report).toMatchObject({ exitCode: 5, rowsWritten: 0 });
      expect((await rig.run({ ...other, now: NIGHT })).report).toMatchObject({ exitCode: 5, rowsWritten: 0 });
      expect(await contentOf(rig)).toEqual(before);
      expect((await rig.run({ ...other, now: NIGHT })).report.rowsWritten).toBeGreaterThan(0);
      // The days before it stay those of the former users, and refuse no later night.
      const later = await nights(rig, '2026-02-22', '2026-02-26', { settings: other.settings });
      expect(later.map(({ report }) => report.orgId)).not.toContain(null);
      expect(await refusalsOf(rig)).toEqual([]);
      // From then on the new users are the known ones.
      const { report } = await rig.run({ now: parseDay('2026-02-27') });
      expect(report).toMatchObject({ exitCode: 5, rowsWritten: 0, orgId: null });
    });
  });

  describe('a key that answers for another organization', () => {
    test('stores nothing until it is named', async () => {
      const rig = await afterNights(database, STORED, USERS);
      const before = await contentOf(rig);
      const other = await otherService(rig, { orgId: 'org_other' });
      expect((await rig.run({ ...other, now: NIGHT })).report).toMatchObject({ exitCode: 5, rowsWritten: 0 });
      expect(await contentOf(rig)).toEqual(before);
      expect(await refusalsOf(rig)).toMatchObject([
        { orgId: 'org_other', rule: 'other-organization', expected: rig.emulator.orgId },
      ]);
      const wrong = await rig.run({ ...other, now: NIGHT, newOrganization: 'org_third' });
      expect(wrong.report.exitCode).toBe(5);
      const named = await rig.run({ ...other, now: NIGHT, newOrganization: 'org_other' });
      expect(named.report).toMatchObject({ exitCode: 0, orgId: 'org_other' });
      expect(await refusalsOf(rig)).toEqual([]);
      // The key is bound to it now, and no longer to the first one.
      const [again, back] = [await rig.run({ ...other, now: NIGHT }), await rig.run({ now: NIGHT })];
      expect([again.report.exitCode, back.report.exitCode]).toEqual([0, 5]);
    });

    test('is accepted with DAYWALK_ORG_ID', async () => {
      const rig = await afterNights(database, STORED, USERS);
      const { settings } = await otherService(rig, { orgId: 'org_other' });
      const { report } = await rig.run({ now: NIGHT, settings: { ...settings, orgId: 'org_other' } });
      expect(report).toMatchObject({ exitCode: 0, orgId: 'org_other' });
    });
  });

  test('a new key for a second organization is refused until it is named, and one for the first is not', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNights(database, STORED, USERS);
    const before = await contentOf(rig);
    const { settings } = await otherService(rig, { orgId: 'org_other', apiKey: `${CANARY_KEY}-2` });
    const second = { now: NIGHT, settings: { ...settings, apiKey: `${CANARY_KEY}-2` } };
    expect((await rig.run(second)).report).toMatchObject({ exitCode: 5, rowsWritten: 0 });
    expect(await contentOf(rig)).toEqual(before);
    expect(await refusalsOf(rig)).toMatchObject([{ orgId: 'org_other', rule: 'new-organization' }]);
    const rotated = await otherService(rig, { seed: 1, apiKey: `${CANARY_KEY}-3` });
    const changed = { ...rotated, settings: { ...rotated.settings, apiKey: `${CANARY_KEY}-3` } };
    expect((await rig.run({ now: NIGHT, ...changed })).report).toMatchObject({
      exitCode: 0,
      unitsDoubted: 0,
    });
    expect((await rig.run({ now: NIGHT })).report.exitCode).toBe(0);
    expect(await refusalsOf(rig)).toEqual([]);
    expect((await rig.run({ ...second, newOrganization: 'org_other' })).report.exitCode).toBe(0);
    expect((await rig.run(second)).report.exitCode).toBe(0);
  });

  test('erased people are known by their pseudonyms, whatever the policy for emails', {
    tags: 'ci/rare',
  }, async () => {
    for (const emails of [{ mode: 'drop' }, { mode: 'hash', salt: 'a salt of the test' }] as const) {
      const rig = await afterNights(database, ['2026-02-18', '2026-02-20'], { users: 4 });
      const policy = { emails: { mode: 'keep' } } as const;
      const everyone = await rig.column('SELECT DISTINCT user_id FROM user_daily');
      for (const user of everyone) await eraseFrom(rig, { user }, policy);
      const applied = { isDryRun: false, wait: false };
      await applyPolicy({ ...rig.settings, emails }, applied, contextOf(NIGHT));
      const { report } = await rig.run({ now: NIGHT, settings: { emails } });
      const stored = await rig.value<number>("SELECT COUNT(*) FROM user_daily WHERE date = '2026-02-20'");
      expect([report.exitCode, Number(stored) > 0]).toEqual([0, true]);
    }
  });

  test('an entry of the organizations file is refused if its key has answered for another organization', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    await rig.run();
    const [first, second] = rig.entries;
    if (first === undefined || second === undefined) throw new Error('the rig has two entries');
    const stored = await rig.stored();
    const third = await startEmulator({
      realistic: true,
      users: 4,
      reports: 0,
      seed: 7,
      today: '2026-01-24',
      apiKey: `${CANARY_KEY}-0`,
    });
    onTestFinished(() => third.close());
    rig.list([{ ...first, name: 'new', baseUrl: third.url }, second]);
    const { organizations } = await rig.run();
    expect(organizations.map(({ exitCode }) => exitCode)).toEqual([5, 0]);
    expect(await rig.stored()).toMatchObject({ names: (stored as { names: unknown }).names });
    rig.writeKey('2.key', `${CANARY_KEY}-2`);
    const fresh = await startEmulator({
      realistic: true,
      users: 4,
      reports: 0,
      seed: 8,
      today: '2026-01-24',
      apiKey: `${CANARY_KEY}-2`,
    });
    onTestFinished(() => fresh.close());
    rig.list([first, second, { name: 'fresh', apiKeyFile: '2.key', baseUrl: fresh.url }]);
    const round = await rig.run();
    expect(round.organizations.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  });
});

/** What the database has no part in. */
describe('the comparison of users', () => {
  const firstPages = (rig: Rig) =>
    requestsOf(rig).filter(({ path, query }) => path.endsWith('/users') && query['cursor'] === undefined);

  test('is one request a night for the newest stored days', async () => {
    const rig = await afterNights(sqlite, STORED, USERS);
    await rig.run({ now: NIGHT });
    expect(firstPages(rig)[0]?.query).toMatchObject({ startDate: '2026-01-20', endDate: '2026-02-19' });
  });

  test('asks for three single days if the service rejects ranges, and does not ask for them again', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await afterNights(sqlite, STORED, USERS);
    rig.emulator.setQuirks({ maxRangeDays: 1 });
    const { report } = await rig.run({ now: NIGHT, settings: { watchDays: 0 } });
    expect(report).toMatchObject({ exitCode: 0 });
    const single = firstPages(rig).flatMap(({ query: { startDate, endDate } }) =>
      startDate === endDate ? [startDate] : [],
    );
    expect(single).toEqual([...new Set(single)]);
    expect(single).toEqual(expect.arrayContaining(['2026-02-17', '2026-02-18', '2026-02-19']));
    const other = { ...(await otherService(rig)), now: parseDay('2026-02-22') };
    const refused = await rig.run({ ...other, settings: { ...other.settings, rangeDays: 1 } });
    expect(refused.report).toMatchObject({ exitCode: 5, rowsWritten: 0 });
  });

  test('takes place without users among the streams, and not at all for readiness of a named organization', async () => {
    const rig = await afterNights(sqlite, STORED, USERS);
    const other = await otherService(rig);
    const tokens = await rig.run({ ...other, now: NIGHT, streams: ['tokens'] });
    expect(tokens.report).toMatchObject({ exitCode: 5, rowsWritten: 0 });
    rig.emulator.resetJournal();
    await rig.run({ now: NIGHT, streams: ['readiness'], settings: { orgId: rig.emulator.orgId } });
    expect(requestsOf(rig).filter(({ path }) => path.includes('/analytics/'))).toEqual([]);
  });

  test('looks at old days if the warehouse was restored from an old backup', async () => {
    const rig = await afterNights(sqlite, STORED, USERS);
    const other = { ...(await otherService(rig)), now: parseDay('2026-03-25') };
    expect((await rig.run(other)).report).toMatchObject({ exitCode: 5, rowsWritten: 0 });
    expect((await rig.run({ now: parseDay('2026-03-25') })).report.exitCode).toBe(0);
  });

  test.each<[what: string, rule: Rule]>([
    [
      'is empty',
      {
        match: { stream: 'users' },
        action: { type: 'patch', operations: [{ op: 'set', path: '/data', value: [] }] },
      },
    ],
    ['is refused with 403', { match: { stream: 'users' }, action: { type: 'status', status: 403 } }],
    ['fails', { match: { stream: 'users' }, action: { type: 'status', status: 500 } }],
  ])('an answer that %s decides nothing', { tags: 'ci/variant' }, async (_, rule) => {
    const rig = await afterNights(sqlite, STORED, USERS);
    const other = await otherService(rig, { rules: [rule] });
    const settings = { ...other.settings, attempts: 1 };
    const { report } = await rig.run({ ...other, now: NIGHT, streams: ['tokens'], settings });
    expect(report.exitCode).not.toBe(3);
    expect(report.rowsWritten).toBeGreaterThan(0);
  });

  test('counts for --max-requests, and nothing is stored without it', async () => {
    const rig = await afterNights(sqlite, STORED, USERS);
    const before = await contentOf(rig);
    const { report } = await rig.run({ now: NIGHT, settings: { maxRequests: 1 } });
    expect(report).toMatchObject({ exitCode: 4, requests: 1, rowsWritten: 0 });
    expect(await contentOf(rig)).toEqual(before);
  });

  test('never stores a key', async () => {
    const rig = await afterNights(sqlite, STORED, USERS);
    const states = await rig.column("SELECT value FROM export_state WHERE name = 'identity'");
    expect(states.join()).toMatch(/"hash":"[0-9a-f]{64}","salt":"[0-9a-f]{32}"/);
    expect(states.join()).not.toContain(CANARY_KEY);
  });
});
