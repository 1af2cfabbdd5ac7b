import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import {
  createOrganizationsRig,
  type OrganizationsRig,
} from '../../support/organizations/organizations-rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const TWO_DAYS_LATER = { DAYWALK_NOW: '2026-01-26T03:00:00Z' };

async function jsonOf(rig: OrganizationsRig, args: string, env: Readonly<Record<string, string>> = {}) {
  const { stdout, stderr, code } = await rig.daywalk(`${args} --json`, env);
  if (stdout === '') throw new Error(stderr);
  return { ...JSON.parse(stdout), code };
}

onEachDatabase((database) => {
  it('status names what was never exported, and health fails until it is', { tags: 'ci/rare' }, async () => {
    const rig = await createOrganizationsRig(['first', 'late'], database);
    expect((await rig.run('--organization first')).organizations.map(({ name }) => name)).toEqual(['first']);
    const status = await jsonOf(rig, 'status');
    expect(status.organizations.map(({ name, orgId }: never) => ({ name, orgId }))).toEqual([
      { name: 'first', orgId: rig.emulators[0]?.orgId },
    ]);
    expect([status.neverExported, status.lastCompleteRunAt]).toEqual([['late'], null]);
    expect(await jsonOf(rig, 'status --health')).toMatchObject({
      code: 1,
      reason: 'late: no complete export of all expected streams is on record',
    });
    await rig.run('--organization late');
    expect(await jsonOf(rig, 'status --health')).toMatchObject({ code: 0, healthy: true });
    expect((await jsonOf(rig, 'status')).neverExported).toEqual([]);
  });

  it('health is about the organization that waits longest, and only about those in the file', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    await rig.run();
    for (const emulator of rig.emulators) emulator.setToday(parseDay('2026-01-26'));
    await rig.run('--organization a', TWO_DAYS_LATER);
    const stale = await jsonOf(rig, 'status --health', TWO_DAYS_LATER);
    expect([stale.code, stale.reason]).toEqual([1, expect.stringContaining('b: the last complete export')]);
    expect((await rig.daywalk('status --max-age 26', TWO_DAYS_LATER)).code).toBe(4);
    rig.list(rig.entries.slice(0, 1));
    expect((await jsonOf(rig, 'status --health', TWO_DAYS_LATER)).code).toBe(0);
    expect((await rig.daywalk('status --max-age 26', TWO_DAYS_LATER)).code).toBe(0);
  });

  it('health and the record of the runs name the organization whose key is refused, until it is not', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    await rig.run();
    for (const emulator of rig.emulators) emulator.setToday(parseDay('2026-01-26'));
    rig.writeKey('1.key', 'sk-revoked-000');
    expect((await rig.run('', TWO_DAYS_LATER)).code).toBe(3);
    expect(await jsonOf(rig, 'status --health', TWO_DAYS_LATER)).toMatchObject({
      code: 1,
      reason: 'b: the last run ended with exit code 3',
    });
    const refused = await rig.place.query('SELECT org_id FROM export_runs WHERE exit_code = 3');
    expect(refused).toEqual([{ org_id: rig.emulators[1]?.orgId }]);
    rig.writeKey('1.key', rig.emulators[1]?.apiKey ?? '');
    const later = { DAYWALK_NOW: '2026-01-26T04:00:00Z' };
    expect((await rig.run('', later)).code).toBe(0);
    expect(await jsonOf(rig, 'status --health', later)).toMatchObject({ code: 0 });
  });

  it('a run of a new name whose key is that of another name is not recorded for that one', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    await rig.run('--organization a');
    const [first] = rig.entries;
    rig.list(first === undefined ? [] : [first, { ...first, name: 'b' }]);
    expect((await rig.run('', TWO_DAYS_LATER)).code).toBe(5);
    const wrong = await rig.place.query('SELECT org_id FROM export_runs WHERE exit_code = 5');
    expect(wrong).toEqual([{ org_id: null }]);
    const { reason } = await jsonOf(rig, 'status --health', TWO_DAYS_LATER);
    expect(reason).toContain('b: ');
  });

  it('verify compares each organization with its own service, and goes on after a refused key', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    await rig.run();
    const good = await jsonOf(rig, 'verify --against-api 3');
    expect(
      good.organizations.map(({ name, pulledAgain }: never) => [
        name,
        (pulledAgain as { units: number }).units,
      ]),
    ).toEqual([
      ['a', 3],
      ['b', 3],
    ]);
    expect([good.code, good.pulledAgain.units]).toEqual([0, 6]);
    rig.writeKey('0.key', 'sk-revoked-000');
    const refused = await jsonOf(rig, 'verify --against-api 3');
    expect([refused.code, refused.organizations[0].exitCode, refused.organizations[1].exitCode]).toEqual([
      3, 3, 0,
    ]);
    const alone = await jsonOf(rig, 'verify --organization b --against-api 3');
    expect([alone.code, alone.organizations.length]).toEqual([0, 1]);
    expect(alone.units * 2).toBe(good.units);
  });

  it('quarantine accept --organization leaves the records of the others', { tags: 'ci/rare' }, async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    const operations = [{ op: 'set' as const, path: '/data/0/tool_calls', value: 'many' }];
    const match = { stream: 'users' as const, day: parseDay('2026-01-15') };
    for (const emulator of rig.emulators)
      emulator.setRules([{ id: 'fault', match, action: { type: 'patch', operations } }]);
    const exits = async () => (await rig.run()).organizations.map(({ exitCode }) => exitCode);
    expect(await exits()).toEqual([5, 5]);
    expect((await rig.daywalk('quarantine list')).stdout).toContain(rig.emulators[0]?.orgId);
    const accepted = await rig.daywalk('quarantine accept --all --organization b');
    expect(accepted.stdout).toBe('1 record accepted\n');
    expect(await exits()).toEqual([5, 0]);
    expect((await rig.daywalk('quarantine accept --all --organization c')).code).toBe(2);
    expect((await rig.daywalk('quarantine accept --all')).stdout).toBe('1 record accepted\n');
    expect(await exits()).toEqual([0, 0]);
  });
});

describe('--organization', () => {
  test('of the commands about one organization accepts its name or its ID', async () => {
    const rig = await createOrganizationsRig(['a', 'b'], sqlite);
    await rig.run();
    const id = rig.emulators[1]?.orgId ?? '';
    const byName = await rig.daywalk('metric billable_tokens --json --organization b');
    expect(byName).toEqual(await rig.daywalk(`metric billable_tokens --json --organization ${id}`));
    expect(byName.code).toBe(0);
    const unclear = await rig.daywalk('metric billable_tokens --organization c');
    expect([unclear.code, unclear.stderr]).toEqual([2, expect.stringMatching(/a, b|b, a/)]);
  });

  test('that the file does not have is refused, and nothing is sent or created', async () => {
    const rig = await createOrganizationsRig(['a', 'b'], sqlite);
    const { code, stderr } = await rig.daywalk('run --organization c');
    expect([code, stderr]).toEqual([2, expect.stringContaining('choose one of a, b')]);
    expect(rig.emulators.map((emulator) => emulator.journal().requests)).toEqual([0, 0]);
  });

  test('creates a session with the key of that organization, and refuses a key of another', async () => {
    const rig = await createOrganizationsRig(['a', 'b'], sqlite);
    await rig.run();
    const create = 'sessions create --computer-id computer-1 --cwd /srv/app';
    expect((await rig.daywalk(create)).stderr).toContain('choose one of them with --organization');
    expect((await rig.daywalk(`${create} --organization b`)).code).toBe(0);
    expect(rig.emulators.map((emulator) => emulator.sessions().length)).toEqual([0, 1]);
    const [first] = rig.entries;
    rig.list([{ name: 'b', apiKeyFile: '0.key', baseUrl: first?.['baseUrl'] }]);
    expect((await rig.daywalk(`${create} --organization b`)).code).toBe(5);
    expect(rig.emulators.map((emulator) => emulator.sessions().length)).toEqual([0, 1]);
  });
});

test('a dry run forecasts each organization, and sends and creates nothing', async () => {
  const rig = await createOrganizationsRig(['a', 'b'], sqlite);
  const { organizations } = await jsonOf(rig, 'run --dry-run');
  expect(
    organizations.map(({ name, forecast }: never) => [name, (forecast as { units: number }).units]),
  ).toEqual([
    ['a', 51],
    ['b', 51],
  ]);
  expect(rig.emulators.map((emulator) => emulator.journal().requests)).toEqual([0, 0]);
});

test('config lists the organizations and every key file that cannot be used', async () => {
  const rig = await createOrganizationsRig(['a', 'b'], sqlite);
  rmSync(join(rig.folder, '1.key'));
  const config = await jsonOf(rig, 'config');
  expect(config.organizations).toMatchObject([
    { name: 'a', baseUrl: rig.emulators[0]?.url, isUsable: true },
    { name: 'b', apiKeyFile: join(rig.folder, '1.key'), isUsable: false },
  ]);
  expect(config.problems.map(({ message }: { message: string }) => message)).toEqual([
    expect.stringContaining('b: read the key file'),
  ]);
  expect(config.code).toBe(2);
});

test('a first round in which every key is refused leaves no warehouse behind', async () => {
  const rig = await createOrganizationsRig(['a', 'b'], sqlite);
  for (const file of ['0.key', '1.key']) rig.writeKey(file, 'sk-revoked-000');
  expect((await rig.run()).code).toBe(3);
  expect((await rig.daywalk('status')).stderr).toContain('no warehouse');
});
