import { describe, expect, onTestFinished, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import type { EmailPolicy } from '../../../src/privacy/gate.ts';
import { rewritingService } from '../../support/erase/rewriting-service.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { CANARY_KEY } from '../../support/rig/canary-key.ts';
import { type Rig, rigOver } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const today = parseDay('2026-01-24');
const HASH: EmailPolicy = { mode: 'hash', salt: 'a long enough salt for the tests' };
const PSEUDONYM: EmailPolicy = { ...HASH, users: 'pseudonym' };

/** A service whose users are those of every other one with the same seed. */
async function service(orgId: string, seed = 1): Promise<Emulator> {
  const emulator = await startEmulator({
    ...{ realistic: true, today: '2026-01-27', users: 20, reports: 2 },
    ...{ apiKey: CANARY_KEY, orgId, seed },
  });
  onTestFinished(() => emulator.close());
  return emulator;
}

const usersOf = (rig: Rig, orgId: string) =>
  rig.column('SELECT DISTINCT user_id FROM user_daily WHERE org_id = ? ORDER BY user_id', orgId);

onEachDatabase((database) => {
  describe('a person', () => {
    test('has one pseudonym in all organizations of a warehouse, and another one in each other warehouse', async () => {
      const [north, south] = [await service('org_north'), await service('org_south')];
      const first = rigOver(north, await database.migrated(), today);
      const second = rigOver(south, first.place, today);
      const other = rigOver(north, await database.migrated(), today);
      const settings = { emails: PSEUDONYM };
      expect((await first.run({ settings })).report.exitCode).toBe(0);
      expect((await second.run({ settings, newOrganization: 'org_south' })).report.exitCode).toBe(0);
      expect((await other.run({ settings })).report.exitCode).toBe(0);
      const inNorth = await usersOf(first, 'org_north');
      expect(inNorth.length).toBeGreaterThan(5);
      for (const user of inNorth) expect(user).toMatch(/^person-[0-9a-f]{32}$/);
      expect(await usersOf(second, 'org_south')).toEqual(inNorth);
      const elsewhere = await usersOf(other, 'org_north');
      expect([elsewhere.length, elsewhere.filter((user) => inNorth.includes(user))]).toEqual([
        inNorth.length,
        [],
      ]);
      const addresses = 'SELECT DISTINCT user_email FROM user_daily WHERE org_id = ? ORDER BY 1';
      expect(await other.column(addresses, 'org_north')).toEqual(await first.column(addresses, 'org_north'));
    });
  });

  describe('what the rules of trust say of users with pseudonyms', () => {
    /** What a night says after three others, without anything that names a user. */
    const night = async (emails: EmailPolicy, url: (rig: Rig) => Promise<string>) => {
      const rig = rigOver(await service('org_north'), await database.migrated(), today);
      for (const day of ['2026-01-24', '2026-01-25', '2026-01-26'] as const)
        await rig.run({ now: parseDay(day), settings: { emails } });
      const baseUrl = await url(rig);
      const now = parseDay('2026-01-27');
      const { report } = await rig.run({ now, settings: { emails, baseUrl, appUrl: baseUrl } });
      const env = envOf(rig, { DAYWALK_NOW: '2026-01-27T04:00:00Z' });
      const { stdout } = await daywalkInProcess(['status', '--json'], { env });
      const { organizations, refusals } = JSON.parse(stdout);
      const { exitCode, unitsDoubted, restatements, rowsWritten, states } = report;
      const open = organizations.map((organization: { open: unknown }) => organization.open);
      const rules = refusals.map(({ rule }: { rule: string }) => rule);
      return { exitCode, unitsDoubted, restatements, rowsWritten, states, open, rules };
    };

    test('is what they say of IDs: that all are others', { tags: 'ci/rare' }, async () => {
      const foreign = async () => (await service('org_north', 99)).url;
      const said = await night(HASH, foreign);
      expect(said).toMatchObject({ exitCode: 5, rules: ['foreign-users'], rowsWritten: 0 });
      expect(await night(PSEUDONYM, foreign)).toEqual(said);
    });

    test('is what they say of IDs: that one has left', { tags: 'ci/variant' }, async () => {
      const without = async (rig: Rig) => {
        const rewriting = await rewritingService(rig.emulator.url);
        let leaver = '';
        rewriting.rewrite((text) => {
          const answer = JSON.parse(text);
          if (!Array.isArray(answer.data)) return text;
          leaver ||=
            answer.data.find((row: { user_id?: string }) => row.user_id !== undefined)?.user_id ?? '';
          const data = answer.data.filter(
            (row: { user_id?: string }) => row.user_id !== leaver || leaver === '',
          );
          return JSON.stringify({ ...answer, data });
        });
        return rewriting.url;
      };
      const said = await night(HASH, without);
      expect(said.open).not.toEqual((await night(HASH, async (rig) => rig.emulator.url)).open);
      expect(await night(PSEUDONYM, without)).toEqual(said);
    });
  });
});
