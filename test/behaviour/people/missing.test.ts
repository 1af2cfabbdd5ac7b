import { expect, it } from 'vitest';
import { createPeopleRig, userAt } from '../../support/people/people-rig.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

onEachDatabase((database) => {
  it('missing people are filled in, added to the list of people, and loaded', async () => {
    const rig = await createPeopleRig(database);
    const [ada, ben, cleo] = [userAt(rig, 0), userAt(rig, 1), userAt(rig, 2)];
    await rig.load([
      'user_email,user_id,team,valid_to,cost_center',
      `${ada.email},,=core,,'+1`,
      `,${ben.id},web,2026-01-16,`,
      `,${cleo.id},"a, ""b""",,`,
      'seat@example.com,,web,,',
    ]);
    const missing = await rig.people('missing', { DAYWALK_LOG: 'pretty' });
    expect(missing.code).toBe(0);
    expect(missing.stderr).toContain('1 person has a seat but no activity so far');
    expect(rig.users.length).toBeGreaterThan(4);
    const [header = '', ...lines] = missing.stdout.trimEnd().split('\n');
    expect(header).toBe('user_id,user_email,team,valid_from,valid_to');
    expect(lines.toSorted()).toEqual(
      rig.users
        .filter(({ id }) => id !== ada.id && id !== cleo.id)
        .map(({ id, email }) => `${id},${email},,${id === ben.id ? '2026-01-17' : ''},`)
        .toSorted(),
    );
    const list = await rig.people('list --csv');
    const [listHeader = '', ...listed] = list.stdout.trimEnd().split('\n');
    expect(listHeader).toBe(
      'user_id,user_email,team,name,department,cost_center,manager_email,valid_from,valid_to',
    );
    expect(list.stdout).toContain("'=core");
    const filled = lines.map((line) => {
      const [id, email, , from, to] = line.split(',');
      return `${id},${email},ops,,,,,${from},${to}`;
    });
    const again = await rig.load([listHeader, ...listed, ...filled]);
    expect([again.code, again.stderr]).toEqual([0, '']);
    expect(JSON.parse(again.stdout)).toMatchObject({
      added: lines.length - 1,
      removed: 0,
      moved: 0,
      changed: 1,
      unchanged: 3,
    });
    expect((await rig.people('missing')).stdout).toBe(`${header}\n`);
    const teams = await rig.sql<{ team: string }>('SELECT DISTINCT team FROM users ORDER BY team');
    expect(teams.map(({ team }) => team).toSorted()).toEqual(['=core', 'a, "b"', 'ops']);
  });

  it('an email address that moves to another user makes a conflict, which doubles no total', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createPeopleRig(database);
    const [ada, ben] = [userAt(rig, 0), userAt(rig, 1)];
    await rig.load(['user_email,team', `${ada.email},core`, `${ben.email},web`]);
    expect(JSON.parse((await rig.people('missing --json')).stdout)).toMatchObject({ conflicts: [] });
    await rig.place.execute(
      'UPDATE user_daily SET user_email = ? WHERE user_id = ? AND date >= ?',
      ada.email,
      ben.id,
      '2026-01-20',
    );
    // The changed rows are stale for the next run, which pulls none of these settled days.
    await rig.place.execute("DELETE FROM rollup_marks WHERE date >= '2026-01-20'");
    const conflictsNow = async () => JSON.parse((await rig.people('missing --json')).stdout).conflicts;
    const expected = [
      {
        user_id: ben.id,
        valid_from: '2026-01-14',
        valid_to: '9999-12-31',
        person: ada.email,
        others: [ben.email],
      },
    ];
    expect(await conflictsNow()).toEqual(expected);
    await rig.run();
    const sums = `SELECT COUNT(*) AS days FROM user_daily u LEFT JOIN user_teams t ON t.org_id = u.org_id
      AND t.user_id = u.user_id AND u.date BETWEEN t.valid_from AND t.valid_to`;
    expect(await rig.sql(sums)).toEqual(await rig.sql('SELECT COUNT(*) AS days FROM user_daily'));
    expect(await conflictsNow()).toEqual(expected);
    const verified = await daywalkInProcess(['verify', '--json'], { env: { DAYWALK_WAREHOUSE: rig.path } });
    expect(JSON.parse(verified.stdout).findings).toContainEqual(
      expect.objectContaining({ severity: 'oddity', expected: ada.email, found: ben.email }),
    );
    const { stderr } = await rig.people('missing', { DAYWALK_LOG: 'pretty' });
    expect(stderr).toContain('1 user is several people on one day');
  });
});
