import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { applyPolicy } from '../../../jobs/privacy.ts';
import { eraseFrom } from '../../support/erase/erase-rig.ts';
import { createPeopleRig, userAt } from '../../support/people/people-rig.ts';
import { contextOf } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const SALT = 'a salt with enough characters';
const HASH = { DAYWALK_EMAILS: 'hash', DAYWALK_EMAIL_SALT: SALT };

const hashOf = (email: string) => createHmac('sha256', SALT).update(email.toLowerCase()).digest('hex');

onEachDatabase((database) => {
  it('hashed email addresses map as in the facts, without names, and only under the same salt', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createPeopleRig(database);
    const ada = userAt(rig, 0);
    const emails = { mode: 'hash', salt: SALT } as const;
    await applyPolicy({ ...rig.settings, emails }, { isDryRun: false, wait: false }, contextOf(rig.today));
    const lines = ['user_email,team,name,manager_email', `${ada.email},core,Ada,Boss@example.com`];
    const load = await rig.load(lines, HASH);
    expect([load.code, load.stderr]).toEqual([0, '']);
    expect(await rig.sql('SELECT person, name, manager_email FROM people')).toEqual([
      { person: hashOf(ada.email), name: null, manager_email: hashOf('boss@example.com') },
    ]);
    expect(await rig.sql('SELECT user_id FROM users WHERE team IS NOT NULL')).toEqual([{ user_id: ada.id }]);
    rig.write('people.csv', (await rig.people('list --csv')).stdout);
    expect((await rig.people('load people.csv', HASH)).stdout).toContain('nothing to do');
    const before = await rig.stored();
    const other = await rig.load(lines, { ...HASH, DAYWALK_EMAIL_SALT: `${SALT} of another year` });
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('another salt')]);
    expect(await rig.stored()).toEqual(before);
  });

  it('dropped email addresses leave user IDs only, and a line without one is refused', async () => {
    const rig = await createPeopleRig(database);
    const ada = userAt(rig, 0);
    const drop = { DAYWALK_EMAILS: 'drop', DAYWALK_LOG: 'pretty' };
    const header = 'user_id,user_email,team,name,manager_email';
    const refused = await rig.load([header, `${ada.id},,core,,`, ',b@example.com,web,,'], drop);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/people\.csv:3: the line has no user_id[\s\S]*give the user_id/);
    expect(await rig.value<number>('SELECT COUNT(*) FROM people')).toBe(0);
    expect((await rig.load([header, `${ada.id},${ada.email},core,Ada,b@example.com`], drop)).code).toBe(0);
    expect(await rig.sql('SELECT person, team, name, manager_email FROM people')).toEqual([
      { person: ada.id, team: 'core', name: null, manager_email: null },
    ]);
  });

  it('a file of the list keeps erased people in their teams, and no list shows them', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createPeopleRig(database);
    const lines = [0, 1].map((index) => `${userAt(rig, index).id},,core`);
    await rig.load(['user_id,user_email,team', ...lines, `,${userAt(rig, 2).email},web`]);
    for (const index of [0, 2]) await eraseFrom(rig, { user: userAt(rig, index).id });
    const before = await rig.stored();
    for (const how of ['list', 'list --json'])
      expect((await rig.people(how)).stdout.match(/erased-|user_0\w+/g)).toEqual([userAt(rig, 1).id]);
    const file = (await rig.people('list --csv')).stdout;
    expect(file.match(/erased-/g)).toHaveLength(2);
    rig.write('people.csv', file);
    expect((await rig.people('load people.csv')).stdout).toContain('nothing to do');
    expect(await rig.stored()).toEqual(before);
  });

  it.each([
    ['drop', { DAYWALK_EMAILS: 'drop' }],
    ['pseudonym', { ...HASH, DAYWALK_USERS: 'pseudonym' }],
  ])(
    'a dry run under %s says what would change, in a warehouse that no run has filled so',
    async (_, policy) => {
      const rig = await createPeopleRig(database);
      const ada = userAt(rig, 0);
      rig.write('people.csv', `user_id,team\n${ada.id},core\n`);
      const before = await rig.stored();
      const dry = await rig.people('load people.csv --dry-run', policy);
      expect([dry.code, dry.stderr]).toEqual([0, '']);
      expect(dry.stdout).toContain('dry run, nothing is stored; 1 person in the file');
      expect(await rig.stored()).toEqual(before);
    },
  );
});
