import { describe, expect, test } from 'vitest';
import { compareMetric } from '../../../src/comparison/compare-metric.ts';
import { FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import type { Cell, Page } from '../../../src/look/page.ts';
import type { PageParams } from '../../../src/look/pages/page-kind.ts';
import { people } from '../../../src/look/pages/people.ts';
import { person } from '../../../src/look/pages/person.ts';
import { team } from '../../../src/look/pages/team.ts';
import { teams } from '../../../src/look/pages/teams.ts';
import { pageReader } from '../../../src/look/snapshot-reader.ts';
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

/** The rows of the list by the ID of their user. */
function rowsByUser(page: Page): Map<string, readonly Cell[]> {
  return new Map(
    figureOf(page, 'people').table.rows.map((row) => {
      const [, name] = row;
      if (name?.kind !== 'link') throw new Error('a row does not lead to a person');
      return [decodeURIComponent(name.path.replace('/people/', '')), row];
    }),
  );
}

function numberOf(cell: Cell | undefined): number | null {
  if (cell?.kind !== 'number') throw new Error('the cell is no number');
  return cell.value;
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
      const shown = [...rowsByUser(page)].map(([id, row]): [string, number | null] => [id, numberOf(row[3])]);
      expect(new Map(shown)).toEqual(new Map(credits.rows.map(({ user, value }) => [user, value])));
      const idle = rowsOf(figureOf(page, 'seats-without-activity'));
      const inactive = await answerMetric(warehouse, { metric: 'inactive_users', orgId, by: [], ...PERIOD });
      expect(idle).toHaveLength(inactive.rows[0]?.value ?? -1);
      expect(idle[0]).toEqual(['never-active', 'web', 'never']);
      expect(phraseText(page.sentence)).toMatch(
        new RegExp(`^14 to 23 January: ${credits.rows.length} people, `),
      );
    });

    test('show the weeks, the model and the change of each person, also while a week is to be summed up again', async () => {
      const rig = await createPeopleRig(database, { today: '2026-02-16' });
      const warehouse = await open(rig.place);
      const [orgId = ''] = await readOrganizationIds(warehouse);
      const period = { from: parseDay('2026-02-02'), until: parseDay('2026-02-11') };
      const read = () =>
        warehouse.inSnapshot(() => people.build(pageReader(warehouse, { orgId, ...period }), {}));
      const rows = rowsByUser(await read());
      expect(rows.size).toBeGreaterThan(3);
      const weekly = await answerMetric(warehouse, {
        ...{ metric: 'billable_tokens', orgId, by: ['user', 'week'] },
        ...{ from: parseDay('2026-01-19'), until: parseDay('2026-02-08') },
      });
      const compared = await compareMetric(
        warehouse,
        { metric: 'billable_tokens', orgId, by: ['user'], ...period },
        'previous',
      );
      const used = await rig.sql<{ user_id: string; model_id: string; credits: number }>(
        `SELECT user_id, model_id, SUM(billable_tokens) AS credits FROM tokens_daily_by_user_model
        WHERE date BETWEEN '2026-02-02' AND '2026-02-11' GROUP BY user_id, model_id`,
      );
      const changes: (number | null)[] = [];
      for (const [id, row] of rows) {
        const values = ['2026-01-19', '2026-01-26', '2026-02-02'].map(
          (week) => weekly.rows.find((own) => own['user'] === id && own['week'] === week)?.value ?? 0,
        );
        expect(row[5]).toEqual({ kind: 'weeks', values });
        const before = compared.rows.find(({ user }) => user === id)?.['before'] ?? null;
        const change = before === null ? null : (numberOf(row[3]) ?? 0) - Number(before);
        expect(numberOf(row[8])).toBe(change);
        changes.push(change);
        const most = used
          .filter(({ user_id }) => user_id === id)
          .toSorted((a, b) => Number(b.credits) - Number(a.credits));
        expect(row[7]).toMatchObject({ text: most[0]?.model_id });
      }
      expect(changes.filter((change) => change !== null).length).toBeGreaterThan(2);
      const share = [...rows.values()].reduce((sum, row) => sum + (numberOf(row[4]) ?? 0), 0);
      expect(share).toBeGreaterThan(0.9);
      await rig.place.execute(
        "UPDATE export_units SET content_sha256 = 'another' WHERE stream = 'users' AND date = '2026-02-04'",
      );
      await rig.place.execute("UPDATE user_weekly SET billable_tokens = 1 WHERE week_start = '2026-02-02'");
      const again = rowsByUser(await read());
      expect([...again].map(([id, row]) => [id, row[5]])).toEqual([...rows].map(([id, row]) => [id, row[5]]));
    });

    test('sort by days, both ways, and number the rows in their order', async () => {
      const rig = await createPeopleRig(database, { today: '2026-02-16' });
      const page = async (descending: boolean) =>
        reading(
          await open(rig.place),
          (reader) => people.build(reader, { sort: { by: 'days', descending } }),
          {
            until: '2026-02-15',
          },
        );
      const [most, fewest] = [figureOf(await page(true), 'people'), figureOf(await page(false), 'people')];
      const days = most.table.rows.map((row) => numberOf(row[6]) ?? 0);
      expect(days).toEqual(days.toSorted((a, b) => b - a));
      expect(fewest.table.rows.map((row) => numberOf(row[6]))).toEqual(days.toReversed());
      expect(rowsOf(fewest).map(([rank]) => rank)).toEqual(days.map((_, index) => String(index + 1)));
      expect(fewest.subtitle).toContain(`1 to ${days.length} of ${days.length}`);
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
      expect(row?.[1]).toMatchObject({ kind: 'link', path: `/people/${encodeURIComponent(HOSTILE)}` });
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
