import { describe, expect, test } from 'vitest';
import { FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import type { Page } from '../../../src/look/page.ts';
import type { PageParams } from '../../../src/look/pages/page-kind.ts';
import { people } from '../../../src/look/pages/people.ts';
import { person } from '../../../src/look/pages/person.ts';
import { team } from '../../../src/look/pages/team.ts';
import { teams } from '../../../src/look/pages/teams.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import type { MetricQuestion } from '../../../src/metrics/question.ts';
import { cellText, figureOf, phraseText, reading, rowsOf } from '../../support/look/read-pages.ts';
import { createPeopleRig, type PeopleRig, userAt } from '../../support/people/people-rig.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const HOSTILE = '<script>/\u202e"%';
const PERIOD = { from: FIRST_DAY, until: parseDay('2026-01-23') };

/** Some people in teams: the first user moved from core to web, one seat never was active. */
async function withTeams(rig: PeopleRig): Promise<void> {
  const rows = rig.users.slice(1, 6).map(({ id }) => `${id},core,,`);
  await rig.load([
    'user_id,team,valid_from,valid_to',
    `${userAt(rig, 0).id},core,,2026-01-18`,
    `${userAt(rig, 0).id},web,2026-01-19,`,
    ...rows,
    'never-active,web,,',
  ]);
}

const peoplePage = async (rig: PeopleRig, params: PageParams = {}): Promise<Page> =>
  reading(await open(rig.place), (reader) => people.build(reader, params));

onEachDatabase((database) => {
  describe('pages about people', () => {
    test('have the numbers that the metrics have', async () => {
      const rig = await createPeopleRig(database);
      await withTeams(rig);
      const warehouse = await open(rig.place);
      const [orgId = ''] = await readOrganizationIds(warehouse);
      const page = await reading(warehouse, (reader) => people.build(reader, {}));
      const credits = await answerMetric(warehouse, {
        metric: 'billable_tokens',
        orgId,
        by: ['user'],
        ...PERIOD,
      });
      const { columns, rows } = figureOf(page, 'people').table;
      const column = columns.findIndex(({ sort }) => sort === 'credits');
      const id = columns.findIndex(({ sort }) => sort === 'id');
      const shown = rows.map((row): [string, number | null] => {
        const [idCell, number] = [row[id], row[column]];
        if (idCell?.kind !== 'text' || number?.kind !== 'number')
          throw new Error('a row lacks its ID or credits');
        return [idCell.text, number.value];
      });
      expect(new Map(shown)).toEqual(new Map(credits.rows.map(({ user, value }) => [user, value])));
      const idle = rowsOf(figureOf(page, 'seats-without-activity'));
      const inactive = await answerMetric(warehouse, { metric: 'inactive_users', orgId, by: [], ...PERIOD });
      expect(idle).toHaveLength(inactive.rows[0]?.value ?? -1);
      expect(idle[0]).toEqual(['never-active', 'web', 'never']);
      expect(phraseText(page.sentence)).toContain(`${credits.rows.length} people were active`);
    });

    test('find a user of any name, and say so where nobody is found', async () => {
      const rig = await createPeopleRig(database);
      await rig.place.execute(
        'UPDATE user_daily SET user_id = ? WHERE user_id = ?',
        HOSTILE,
        userAt(rig, 0).id,
      );
      const found = await peoplePage(rig, { search: '<SCRIPT>/' });
      const [row] = figureOf(found, 'people').table.rows;
      expect(row?.[0]).toMatchObject({ kind: 'link', path: `/people/${encodeURIComponent(HOSTILE)}` });
      const all = figureOf(await peoplePage(rig, { search: '%' }), 'people');
      expect(all.table.rows).toHaveLength(1);
      const none = figureOf(await peoplePage(rig, { search: "' OR 1=1 --" }), 'people');
      expect(none.empty).toContain('contains');
      const page = await reading(await open(rig.place), (reader) =>
        person.build(reader, { subject: HOSTILE }),
      );
      expect(rowsOf(figureOf(page, 'who'))[0]).toContain(HOSTILE);
    });

    test('count a user who moved in both teams, on the days in each', async () => {
      const rig = await createPeopleRig(database);
      await withTeams(rig);
      const warehouse = await open(rig.place);
      const [orgId = ''] = await readOrganizationIds(warehouse);
      const moved = userAt(rig, 0);
      for (const name of ['core', 'web', 'unassigned']) {
        const page = await reading(warehouse, (reader) => team.build(reader, { subject: name }));
        const named = name === 'unassigned' ? null : name;
        const question: MetricQuestion = { metric: 'sessions', orgId, by: ['user'], team: named, ...PERIOD };
        const expected = await answerMetric(warehouse, question);
        const members = expected.rows.filter(({ value }) => value !== null);
        const table = figureOf(page, 'people').table;
        expect(table.rows).toHaveLength(members.length);
        const ids = table.rows.flatMap((row) => row.map(cellText)).filter((text) => text === moved.id);
        expect(ids).toHaveLength(name === 'unassigned' ? 0 : 1);
      }
      const page = await reading(warehouse, (reader) => person.build(reader, { subject: moved.id }));
      const who = rowsOf(figureOf(page, 'who')).filter(([kind]) => kind === 'Team');
      expect(who.map(([, name]) => name)).toEqual(['web', 'core']);
      const compared = figureOf(await reading(warehouse, (reader) => teams.build(reader, {})), 'teams');
      expect(rowsOf(compared).at(-1)?.[0]).toBe('unassigned');
      const active = await answerMetric(warehouse, {
        metric: 'active_users',
        orgId,
        by: ['team'],
        ...PERIOD,
      });
      const shown = rowsOf(compared).map(([name = '', , number = '']): [string, string] => [name, number]);
      expect(new Map(shown)).toEqual(
        new Map(active.rows.map(({ team: name, value }) => [name ?? 'unassigned', String(value)])),
      );
    });

    test('refuse a user and a team that do not exist, with the one that was meant', async () => {
      const rig = await createPeopleRig(database);
      await withTeams(rig);
      const warehouse = await open(rig.place);
      const { id, email } = userAt(rig, 1);
      const build = (subject: string) => reading(warehouse, (reader) => person.build(reader, { subject }));
      await expect(build(`${id}X`)).rejects.toMatchObject({ hint: `did you mean ${id}?` });
      await expect(build(email.toUpperCase())).rejects.toMatchObject({ hint: `did you mean ${id}?` });
      await expect(build('x'.repeat(10_000))).rejects.toMatchObject({ exitCode: 2 });
      const noTeam = reading(warehouse, (reader) => team.build(reader, { subject: 'cor' }));
      await expect(noTeam).rejects.toMatchObject({ hint: 'did you mean core?' });
    });
  });
});
