import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, test } from 'vitest';
import { appendDurably, encodeRecord } from '../../../src/hooks/spool.ts';
import { createOrganizationsRig } from '../../support/organizations/organizations-rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

onEachDatabase((database) => {
  it('completes the third organization although one key is refused and one service is down', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['refused', 'down', 'fine'], database);
    rig.writeKey('0.key', 'sk-revoked-000');
    await rig.emulators[1]?.close();
    const round = await rig.run();
    expect(round.code).toBe(3);
    expect(round.exitCode).toBe(3);
    expect(round.organizations.map(({ name, orgId, exitCode }) => ({ name, orgId, exitCode }))).toEqual([
      { name: 'refused', orgId: null, exitCode: 3 },
      { name: 'down', orgId: null, exitCode: 4 },
      { name: 'fine', orgId: rig.emulators[2]?.orgId, exitCode: 0 },
    ]);
    expect(await rig.place.query('SELECT name, org_id FROM organizations')).toEqual([
      { name: 'fine', org_id: rig.emulators[2]?.orgId },
    ]);
    // Complete: the same content as an export of this organization alone.
    const alone = await createOrganizationsRig(['other'], database);
    const apiKeyFile = join(rig.folder, '2.key');
    alone.list([{ name: 'fine', apiKeyFile, baseUrl: rig.emulators[2]?.url }]);
    expect((await alone.run()).code).toBe(0);
    const digestOf = async ({ daywalk }: typeof rig) => JSON.parse((await daywalk('digest --json')).stdout);
    expect((await digestOf(rig)).warehouse).toBe((await digestOf(alone)).warehouse);
  });
});

test('hook events belong to none of several organizations, also while only one of them could be exported', {
  tags: 'ci/rare',
}, async () => {
  const rig = await createOrganizationsRig(['refused', 'fine'], sqlite);
  rig.writeKey('0.key', 'sk-revoked-000');
  const text = JSON.stringify({ hook_event_name: 'Stop', session_id: 's-1' });
  const receivedAt = '2026-01-15T08:00:00.000Z';
  for (const order of ['1-1', '1-2']) {
    appendDurably(`${rig.place.location}.spool`, encodeRecord({ receivedAt, order, text }));
    expect((await rig.run()).code).toBe(3);
  }
  expect(await rig.place.query('SELECT DISTINCT org_id FROM export_units')).toHaveLength(1);
  expect(await rig.place.query('SELECT org_id FROM hook_events')).toEqual([{ org_id: '' }, { org_id: '' }]);
  const [{ user_id: user } = {}] = await rig.place.query('SELECT MIN(user_id) AS user_id FROM user_daily');
  for (const command of ['hooks drain', `erase --user ${user}`]) {
    appendDurably(`${rig.place.location}.spool`, encodeRecord({ receivedAt, order: command, text }));
    expect((await rig.daywalk(command)).code).toBe(0);
    const found = await rig.place.query('SELECT DISTINCT org_id FROM hook_events');
    expect([command, found]).toEqual([command, [{ org_id: '' }]]);
  }
  expect(await rig.place.query('SELECT event_id FROM hook_events')).toHaveLength(4);
});

test('an unreadable key file is a problem of its organization alone', async () => {
  const rig = await createOrganizationsRig(['gone', 'fine'], sqlite);
  rmSync(join(rig.folder, '0.key'));
  const round = await rig.run();
  expect(round.organizations.map(({ name, exitCode }) => [name, exitCode])).toEqual([
    ['gone', 2],
    ['fine', 0],
  ]);
  expect(round.code).toBe(2);
  expect(round.organizations[0]?.error?.message).toContain(join(rig.folder, '0.key'));
  expect(rig.emulators[0]?.journal().requests).toBe(0);
});

test('a first day that is still to come keeps back only organizations without their own', {
  tags: 'ci/rare',
}, async () => {
  const rig = await createOrganizationsRig(['own', 'others'], sqlite);
  rig.list(rig.entries.map((entry, index) => (index === 0 ? { ...entry, firstDay: '2026-01-20' } : entry)));
  const { code, stdout } = await rig.daywalk('run --json', { DAYWALK_FIRST_DAY: '2026-06-01' });
  const codes = JSON.parse(stdout).organizations.map(({ exitCode }: { exitCode: number }) => exitCode);
  expect([code, codes]).toEqual([2, [0, 2]]);
});

test('a key that is written where its file belongs is shown nowhere', { tags: 'ci/rare' }, async () => {
  const rig = await createOrganizationsRig(['mistaken', 'fine'], sqlite);
  const key = 'sk-mistaken-0123456789';
  rig.list([{ name: 'mistaken', apiKeyFile: key }, ...rig.entries.slice(1)]);
  for (const command of ['run', 'run --json', 'config', 'config --json', 'status']) {
    const { stdout, stderr } = await rig.daywalk(command);
    expect([command, stdout + stderr]).toEqual([command, expect.not.stringContaining(key)]);
  }
});

test('a warehouse that can no longer be written is the end for the others too, without a request', {
  tags: 'ci/rare',
}, async () => {
  const rig = await createOrganizationsRig(['first', 'second', 'third'], sqlite);
  await rig.run();
  const before = rig.emulators.map((emulator) => emulator.journal().requests);
  rig.emulators[0]?.setLatency(200);
  const ended = rig.daywalk('run --log json', { DAYWALK_NOW: '2026-01-26T03:00:00Z' });
  while (rig.emulators[0]?.journal().requests === before[0]) await delay(5);
  for (const suffix of ['', '-wal', '-shm']) rmSync(rig.place.location + suffix, { force: true });
  const { code, stderr } = await ended;
  expect(code).toBe(6);
  expect(stderr).toMatch(/"event":"run-ended".*"organization":"first".*"exitCode":6/);
  expect(stderr).toMatch(/"event":"organization-left-out".*"organization":"third","exitCode":6/);
  // The run of the second could not even be recorded, and the third was not tried.
  expect(stderr.match(/"event":"run-started"/g)).toHaveLength(2);
  expect(rig.emulators.slice(1).map((emulator) => emulator.journal().requests)).toEqual(before.slice(1));
});
