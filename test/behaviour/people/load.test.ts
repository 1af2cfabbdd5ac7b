import { expect, it } from 'vitest';
import { createPeopleRig, type PeopleRig, userAt } from '../../support/people/people-rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

/** Tokens by team, the team being the one on the day; '' without one. */
async function tokensByTeam(rig: PeopleRig, untilDay: string): Promise<Record<string, number>> {
  const rows = await rig.sql<{ team: string; tokens: number }>(
    `SELECT COALESCE(t.team, '') AS team, SUM(u.billable_tokens) AS tokens
     FROM user_daily u LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id
       AND u.date BETWEEN t.valid_from AND t.valid_to
     WHERE u.date <= ? GROUP BY COALESCE(t.team, '')`,
    untilDay,
  );
  return Object.fromEntries(rows.map(({ team, tokens }) => [team, Number(tokens)]));
}

onEachDatabase((database) => {
  it('people are loaded, moved from a day on, and loaded again without effect', {
    tags: 'ci/variant',
  }, async () => {
    const rig = await createPeopleRig(database);
    const [ada, ben] = [userAt(rig, 0), userAt(rig, 1)];
    const first = await rig.load([
      'user_email,user_id,team,name,department,cost_center,manager_email',
      `${ada.email.toUpperCase()},,core,Ada,R&D,CC-1,Boss@Example.com`,
      `,${ben.id},web,,,,`,
      'new.hire@example.com,,web,,,,',
    ]);
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(JSON.parse(first.stdout)).toMatchObject({
      dry_run: false,
      people: 3,
      added: 3,
      removed: 0,
      moved: 0,
      unchanged: 0,
      people_without_user: 1,
      users: rig.users.length,
      users_with_person: 2,
    });
    expect(await rig.sql("SELECT * FROM people WHERE team = 'core'")).toEqual([
      {
        org_id: await rig.value('SELECT MAX(org_id) FROM users'),
        person: ada.email.toLowerCase(),
        valid_from: '2026-01-14',
        valid_to: null,
        name: 'Ada',
        team: 'core',
        department: 'R&D',
        cost_center: 'CC-1',
        manager_email: 'boss@example.com',
      },
    ]);
    expect(await rig.sql('SELECT user_id, team FROM users WHERE team IS NOT NULL ORDER BY user_id')).toEqual([
      { user_id: ada.id, team: 'core' },
      { user_id: ben.id, team: 'web' },
    ]);
    const earlier = await tokensByTeam(rig, '2026-01-18');
    expect(earlier['core']).toBeGreaterThan(0);

    const moved = [
      'user_email,user_id,team,valid_from,valid_to',
      `${ada.email},,core,,2026-01-18`,
      `${ada.email},,web,2026-01-19,`,
      `,${ben.id},web,,`,
    ];
    rig.write('people.csv', moved.map((line) => `${line}\n`).join(''));
    const before = await rig.stored();
    const dry = await rig.people('load people.csv --dry-run --json');
    expect(await rig.stored()).toEqual(before);
    const second = await rig.load(moved);
    expect(JSON.parse(dry.stdout)).toEqual({ ...JSON.parse(second.stdout), dry_run: true });
    expect(JSON.parse(second.stdout)).toMatchObject({
      added: 0,
      removed: 1,
      moved: 1,
      unchanged: 1,
      moves: [
        {
          person: ada.email.toLowerCase(),
          valid_from: '2026-01-19',
          valid_to: null,
          from_team: 'core',
          to_team: 'web',
        },
      ],
    });
    expect(await tokensByTeam(rig, '2026-01-18')).toEqual(earlier);
    const total = await rig.value<number>('SELECT SUM(billable_tokens) FROM user_daily');
    const all = await tokensByTeam(rig, '2026-12-31');
    expect(Object.values(all).reduce((sum, tokens) => sum + tokens, 0)).toBeCloseTo(Number(total), 6);
    expect(all['web']).toBeGreaterThan(earlier['web'] ?? 0);

    const after = await rig.stored();
    const again = await rig.people('load people.csv');
    expect(again.stdout).toContain('nothing to do; stored already: 2 people');
    expect(await rig.stored()).toEqual(after);
  });

  it('a wrong file is refused with file, line and remedy, exit code 2, and nothing stored', async () => {
    const rig = await createPeopleRig(database);
    const [ada, ben] = [userAt(rig, 0), userAt(rig, 1)];
    const orgId = (await rig.value('SELECT MAX(org_id) FROM users')) ?? '';
    await rig.place.execute(
      "INSERT INTO user_emails (org_id, month, user_id, user_email, last_seen_on) VALUES (?, '2026-01', ?, 'Old@Example.com', '2026-01-20')",
      orgId,
      ada.id,
    );
    expect((await rig.load(['user_id,team', `${ada.id},core`])).code).toBe(0);
    const before = await rig.stored();
    const period = 'user_email,team,valid_from,valid_to';
    const refused: readonly (readonly [lines: readonly string[], message: string, hint: string])[] = [
      [
        ['user_email,team,colour', 'a@x.org,web,red'],
        'people.csv:1: unknown column "colour"',
        'the columns are',
      ],
      [
        ['user_email,team', 'a@x.org,Unassigned'],
        'people.csv:2: team "Unassigned" means people without a team',
        'leave the cell empty',
      ],
      [['user_email,team', 'ada,web'], 'people.csv:2: user_email "ada" is not an email', 'ada@example.com'],
      [[period, 'a@x.org,web,2026-02-30,'], 'people.csv:2: valid_from "2026-02-30"', 'YYYY-MM-DD'],
      [
        [period, 'a@x.org,web,2026-02-02,2026-02-01'],
        'people.csv:2: valid_to 2026-02-01 is before',
        'exchange',
      ],
      [
        [period, 'a@x.org,web,,2025-12-31'],
        'people.csv:2: valid_to 2025-12-31 is before',
        'leave out the line',
      ],
      [
        [period, 'a@x.org,web,,2026-03-01', 'A@x.org,core,2026-03-01,'],
        'people.csv:3: the same person as in line 2, and both lines are valid on 2026-03-01',
        'valid_to on the day before',
      ],
      [
        ['user_id,user_email,team', `${ada.id},,web`, `,${ada.email},core`],
        `people.csv:3: this line and line 2 both describe the user ${ada.id} on 2026-01-14`,
        'remove one of the lines',
      ],
      [
        ['user_email,team', `${ada.email},web`, 'x@x.org,web', 'OLD@example.com,core'],
        `people.csv:4: this line and line 2 both describe the user ${ada.id}`,
        'user_id',
      ],
      [
        ['user_id,user_email,team', `${ben.id},fresh@example.com,web`, `,fresh@example.com,core`],
        `people.csv:3: this line and line 2 both describe the user ${ben.id}`,
        'remove one',
      ],
      [['user_email,team'], 'people.csv: the file has no people', '--allow-empty'],
    ];
    for (const [lines, message, hint] of refused) {
      const { code, stdout, stderr } = await rig.load(lines, { DAYWALK_LOG: 'pretty' });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(message);
      expect(stderr).toMatch(new RegExp(`hint: .*${hint}`));
      expect(await rig.stored()).toEqual(before);
    }
    const other = await rig.people('list --organization org_2', { DAYWALK_LOG: 'pretty' });
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringMatching(/"org_2"[\s\S]*with --organization/),
    ]);
    rig.write('none.csv', 'user_id,team\n');
    expect((await rig.people('load none.csv --allow-empty')).code).toBe(0);
    expect(await rig.value<number>('SELECT COUNT(*) FROM people')).toBe(0);
  });

  it('people are loaded while a run exports', async () => {
    const rig = await createPeopleRig(database);
    const [ada] = [userAt(rig, 0)];
    let loading: Promise<{ code: number }> | undefined;
    const run = rig.run({
      force: true,
      onEvent: () => {
        loading ??= rig.load(['user_id,team', `${ada.id},core`]);
      },
    });
    const [{ report }, load] = [await run, await loading];
    expect([report.exitCode, load?.code]).toEqual([0, 0]);
    expect(await rig.sql("SELECT user_id FROM users WHERE team = 'core'")).toEqual([{ user_id: ada.id }]);
  });
});
