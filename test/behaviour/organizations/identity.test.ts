import { expect, it } from 'vitest';
import {
  createOrganizationsRig,
  type OrganizationsRig,
} from '../../support/organizations/organizations-rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

/** The exit code of each organization of a run, by name. */
async function exitsOf(rig: OrganizationsRig, flags = ''): Promise<Record<string, number>> {
  const { organizations } = await rig.run(flags);
  return Object.fromEntries(organizations.map(({ name, exitCode }) => [name, exitCode]));
}

onEachDatabase((database) => {
  it('refuses two names whose keys were swapped, and changes nothing', { tags: 'ci/rare' }, async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    expect(await exitsOf(rig)).toEqual({ a: 0, b: 0 });
    const before = await rig.stored();
    const names = rig.entries.map(({ name }) => name).toReversed();
    rig.list(rig.entries.map((entry, index) => ({ ...entry, name: names[index] ?? '' })));
    const { organizations, code } = await rig.run('', { DAYWALK_NOW: '2026-01-25T03:00:00Z' });
    expect(organizations.map(({ exitCode, orgId }) => [exitCode, orgId])).toEqual([
      [5, null],
      [5, null],
    ]);
    expect(code).toBe(5);
    expect(JSON.stringify(organizations)).toContain('and before it answered for');
    expect(await rig.stored()).toEqual(before);
  });

  it('cannot notice keys that were swapped from the beginning; other names correct it without another export', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    const names = rig.entries.map(({ name }) => name).toReversed();
    rig.list(rig.entries.map((entry, index) => ({ ...entry, name: names[index] ?? '' })));
    expect(await exitsOf(rig)).toEqual({ a: 0, b: 0 });
    const status = JSON.parse((await rig.daywalk('status --json')).stdout);
    expect(status.organizations.map(({ name, orgId }: never) => [name, orgId])).toEqual(
      names.map((name, index) => [name, rig.emulators[index]?.orgId]),
    );
    await rig.place.execute("DELETE FROM organizations WHERE name IN ('a', 'b')");
    rig.list(rig.entries);
    const { organizations, code } = await rig.run();
    expect([code, ...organizations.map(({ report }) => report?.rowsWritten)]).toEqual([0, 0, 0]);
  });

  it('asks whose key it is even if only readiness is requested', { tags: 'ci/rare' }, async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    await rig.run();
    const before = await rig.stored();
    rig.list([{ name: 'a', apiKeyFile: '1.key', baseUrl: rig.emulators[1]?.url }]);
    expect(await exitsOf(rig, '--streams readiness')).toEqual({ a: 5 });
    expect(await rig.stored()).toEqual(before);
  });

  it('refuses the second of two names with the same key, also when it is the new one of the two', async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    const same = (name: string) => ({ name, apiKeyFile: '0.key', baseUrl: rig.emulators[0]?.url });
    rig.list([same('a'), same('copy')]);
    expect(await exitsOf(rig)).toEqual({ a: 0, copy: 5 });
    rig.list([same('copy'), same('a')]);
    expect(await exitsOf(rig)).toEqual({ copy: 5, a: 0 });
    expect(await rig.place.query('SELECT name FROM organizations')).toEqual([{ name: 'a' }]);
  });

  it('accepts a new name for an organization whose old name is no longer in the file', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['a', 'b'], database);
    await rig.run();
    const [first, second] = rig.entries;
    if (first === undefined || second === undefined) throw new Error('the rig has two entries');
    rig.list([{ ...first, name: 'renamed' }, second]);
    expect(await exitsOf(rig)).toEqual({ renamed: 0, b: 0 });
    expect(await rig.place.query('SELECT name FROM organizations ORDER BY name')).toEqual([
      { name: 'a' },
      { name: 'b' },
      { name: 'renamed' },
    ]);
    // Both names of one organization in the file: the earlier one counts.
    rig.list([{ ...first, name: 'renamed' }, first]);
    expect(await exitsOf(rig)).toEqual({ renamed: 0, a: 5 });
  });

  it('does not record a name on the word of one answer', async () => {
    const rig = await createOrganizationsRig(['a'], database);
    rig.emulators[0]?.setRules([
      {
        match: { stream: 'tokens' },
        action: { type: 'patch', operations: [{ op: 'set', path: '/meta/org_id', value: 'org_other' }] },
      },
    ]);
    expect(await exitsOf(rig)).toEqual({ a: 5 });
    expect(await rig.place.query('SELECT name FROM organizations')).toEqual([]);
  });
});
