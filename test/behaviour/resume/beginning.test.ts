import { describe, expect, test } from 'vitest';
import { hintOf } from '../../../src/cli/remedies.ts';
import { shiftDay } from '../../../src/core/day.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { requestsOf } from '../../support/rig/journal.ts';
import { createRig, rigOver, TODAY } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const ANALYTICS = '/api/v1/analytics/';
const from = shiftDay(TODAY, -3);

onEachDatabase((database) => {
  describe('a named organization', () => {
    test('needs no analytics: a key that may only read readiness pulls the reports', async () => {
      const rig = await createRig({}, { database });
      const settings = { apiKey: rig.emulator.keys.member, orgId: rig.emulator.orgId };
      const { report } = await rig.run({ streams: ['readiness'], settings });
      expect(report).toMatchObject({ exitCode: 0, orgId: rig.emulator.orgId, unitsDone: 1 });
      expect(await rig.value('SELECT COUNT(*) FROM readiness_reports')).toBe(6);
      expect(requestsOf(rig).filter(({ path }) => path.startsWith(ANALYTICS))).toEqual([]);
    });

    test('stores the same units as without a name, with no more requests', async () => {
      const asked = await createRig({}, { database });
      const named = await createRig({}, { database });
      await asked.run({ from });
      const { report } = await named.run({ from, settings: { orgId: named.emulator.orgId } });
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      expect(await named.digest()).toBe(await asked.digest());
      expect(requestsOf(named).length).toBeLessThanOrEqual(requestsOf(asked).length);
    });

    test('ends the run with 5 if the service answers about another one, and nothing is stored', async () => {
      const rig = await createRig({}, { database });
      const { report } = await rig.run({ from, settings: { orgId: 'org_other' } });
      expect(report.exitCode).toBe(5);
      expect(report.problems[0]?.message).toContain(rig.emulator.orgId);
      expect(await rig.column('SELECT COUNT(*) FROM export_units')).toEqual([0]);
    });

    test('ends the run with 3 after one request if the key is refused', async () => {
      const rig = await createRig({}, { database });
      const { report } = await rig.run({
        from,
        settings: { apiKey: 'a-wrong-key', orgId: rig.emulator.orgId },
      });
      expect(report.exitCode).toBe(3);
      expect(requestsOf(rig)).toHaveLength(1);
    });
  });

  test('if the key is refused during the lookup of the organization, the error says so, and how to name it', async () => {
    const rig = await createRig({}, { database });
    for (const [apiKey, status] of [
      ['a-wrong-key', 401],
      [rig.emulator.keys.member, 403],
    ] as const) {
      const { report } = await rig.run({ streams: ['readiness'], settings: { apiKey } });
      expect(report.exitCode).toBe(3);
      expect(report.problems[0]?.message).toMatch(
        new RegExp(`^look up the organization of the key: GET .*answered ${status}`),
      );
      expect(hintOf(report.problems[0] ?? { hint: undefined })).toContain('--org-id');
    }
  });

  test('one answer about another organization stores nothing in a warehouse with an organization', async () => {
    const rig = await createRig({}, { database });
    await rig.run({ from });
    const before = await rig.digest();
    rig.emulator.setRules([
      {
        id: 'foreign',
        match: { stream: 'tokens' },
        when: { nth: 1 },
        action: { type: 'patch', operations: [{ op: 'set', path: '/meta/org_id', value: 'org_foreign' }] },
      },
    ]);
    const { report } = await rig.run({ from });
    expect(rig.emulator.journal().rules).toMatchObject([{ firings: 1 }]);
    expect(report.exitCode).toBe(5);
    expect(await rig.digest()).toBe(before);
    expect(await rig.column('SELECT DISTINCT org_id FROM export_units')).toEqual([rig.emulator.orgId]);
  });

  test('a run that adds an organization to a warehouse says so, and the next one does not', {
    tags: 'ci/again',
  }, async () => {
    const rig = await createRig({}, { database });
    const { report } = await rig.run({ from });
    expect(report.organizationsBefore).toBeUndefined();
    const emulator = await startEmulator({
      realistic: true,
      today: TODAY,
      users: 5,
      reports: 2,
      orgId: 'org_further',
    });
    try {
      const other = rigOver(emulator, rig.place);
      expect((await other.run({ from, newOrganization: 'org_further' })).report).toMatchObject({
        exitCode: 0,
        orgId: 'org_further',
        organizationsBefore: [rig.emulator.orgId],
      });
      expect((await other.run({ from })).report.organizationsBefore).toBeUndefined();
    } finally {
      await emulator.close();
    }
  });
});

describe('the command line', () => {
  test('accepts the organization as a flag or from the environment, and the forecast shows it', async () => {
    const rig = await createRig({}, { database: sqlite });
    const { orgId, keys } = rig.emulator;
    const env = envOf(rig, { DAYWALK_API_KEY: keys.member });
    const args = ['run', '--streams', 'readiness', '--json'];
    const dry = await daywalkInProcess([...args, '--dry-run', '--org-id', orgId], { env });
    expect(JSON.parse(dry.stdout)).toMatchObject({ orgId, units: 1 });
    expect((await daywalkInProcess([...args, '--org-id', orgId], { env })).code).toBe(0);
    const again = await daywalkInProcess(args, { env: { ...env, DAYWALK_ORG_ID: orgId } });
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ orgId, unitsDone: 1 });
    expect((await daywalkInProcess([...args, '--org-id', ''], { env })).code).toBe(2);
  });
});
