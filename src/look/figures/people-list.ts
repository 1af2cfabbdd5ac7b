import { listOf, type SQL, sql } from '../../../schema/query.ts';
import { daysFrom, shiftDay, weekdayOf } from '../../core/day.ts';
import { type Period, PHRASES } from '../../metrics/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import { noNumber, type Result, type ShownNumber, shareOf } from '../numbers.ts';
import { type Cell, linkTo, type Table } from '../page.ts';
import type { PageReader } from '../reader.ts';
import { completeWeeks, WEEKS } from '../time-spans.ts';
import { type ActivePerson, muted, type PeopleOrder, personCell } from './active-people.ts';
import { readByWeeks } from './user-weeks.ts';

/** What is read about the people of one page of the list only. */
export interface PageOfPeople {
  /** The credits of everybody. */
  readonly total: ShownNumber;
  readonly weeks: Period | null;
  /** The credits of each week, the oldest first; null where they are not known. */
  weeksOf(userId: string): readonly (number | null)[];
  /** The model that most credits went to; undefined if none is known. */
  modelOf(userId: string): string | undefined;
  readonly results: readonly Result[];
}

/** Reads the last complete weeks and the most used models of a few people, in one statement each. */
export async function readPageOfPeople(
  reader: PageReader,
  people: readonly ActivePerson[],
  total: ShownNumber,
): Promise<PageOfPeople> {
  const weeks = completeWeeks(reader.filters, WEEKS);
  if (people.length === 0) return { total, weeks, weeksOf: () => [], modelOf: () => undefined, results: [] };
  const among = listOf(people.map(({ userId }) => sql`${userId}`));
  const found = weeks === null ? null : await readWeeks(reader, weeks, among);
  const models = await reader.select({
    title: 'Models of these people',
    query: modelsQuery(reader, among),
    streams: ['users'],
  });
  const model = new Map<string, string>();
  for (const row of models.rows) {
    const userId = String(row['user_id']);
    if (!model.has(userId)) model.set(userId, String(row['model_id']));
  }
  return {
    total,
    weeks,
    weeksOf: (userId) => found?.weeksOf(userId) ?? [],
    modelOf: (userId) => model.get(userId),
    results: [...(found === null ? [] : [found.result]), models],
  };
}

/** A row for each user and model, those with most credits first. */
function modelsQuery({ filters: { orgId, from, until }, warehouse }: PageReader, among: SQL): SQL {
  const { sortable } = PHRASES[warehouse.dialect];
  // The days come first, so that the database finds the rows of the users by the key.
  return sql`SELECT m.user_id, m.model_id, SUM(m.billable_tokens) AS credits
FROM dates d CROSS JOIN tokens_daily_by_user_model m
WHERE d.date BETWEEN ${from} AND ${until} AND m.org_id = ${orgId} AND m.date = d.date AND m.user_id IN (${among})
GROUP BY m.user_id, m.model_id
HAVING SUM(m.billable_tokens) > 0
ORDER BY ${sortable(sql`m.user_id`)}, credits DESC, ${sortable(sql`m.model_id`)}`;
}

/** The weeks come from the rollup, and those that it must not be read for from the days. */
async function readWeeks(reader: PageReader, weeks: Period, among: SQL) {
  const { warehouse, filters } = reader;
  const { orgId } = filters;
  const { sortable } = PHRASES[warehouse.dialect];
  const rows = await readByWeeks(reader, weeks, {
    rolled: (first, last) => sql`  SELECT user_id, week_start, billable_tokens AS credits FROM user_weekly
  WHERE org_id = ${orgId} AND week_start BETWEEN ${first} AND ${last} AND user_id IN (${among})`,
    ofDays: (
      first,
      last,
    ) => sql`  SELECT user_id, ${first} AS week_start, SUM(billable_tokens) AS credits FROM user_daily
  WHERE org_id = ${orgId} AND date BETWEEN ${first} AND ${last} AND user_id IN (${among}) GROUP BY user_id`,
  });
  const result = await reader.select({
    title: 'Weeks of these people',
    query: sql`SELECT user_id, week_start, credits FROM (
${rows}
) w ORDER BY ${sortable(sql`user_id`)}, week_start`,
    streams: ['users'],
    ...weeks,
  });
  const credits = new Map(
    result.rows.map((row) => [`${row['week_start']} ${row['user_id']}`, Number(row['credits'] ?? 0)]),
  );
  const mondays = daysFrom(weeks.from, weeks.until).filter((day) => weekdayOf(day) === 1);
  const holed = new Set(result.basis.days.missing.map((day) => shiftDay(day, 1 - weekdayOf(day))));
  return {
    result,
    // Who has no row in a week of which a day is missing may have had use.
    weeksOf: (userId: string) =>
      mondays.map((monday) => credits.get(`${monday} ${userId}`) ?? (holed.has(monday) ? null : 0)),
  };
}

/**
 * A row per person, each with a link to the page of the person; columns are sorted by links.
 * @param first the place of the first person in the whole list, from 1.
 */
export function peopleTable(
  people: readonly ActivePerson[],
  { page, order, first }: { page: PageOfPeople; order: PeopleOrder; first: number },
): Table {
  const { total, weeksOf, modelOf } = page;
  return {
    columns: [
      { title: '#', align: 'end', isRank: true },
      { title: 'Person', sort: 'person' },
      { title: 'Team', sort: 'team', isSpare: true },
      { title: 'Credits', align: 'end', sort: 'credits' },
      { title: '%', align: 'end', isSpare: true },
      { title: 'Weeks' },
      { title: 'Days', align: 'end', sort: 'days', isSpare: true },
      { title: 'Most used model', isSpare: true },
      { title: 'Change', align: 'end', sort: 'change' },
      { title: 'in %', align: 'end', isSpare: true },
    ],
    rows: people.map((person, index): Cell[] => {
      const { userId, team, numbers, activeDays, change, relative } = person;
      const credits = numbers.credits ?? noNumber('no value is stored');
      const model = modelOf(userId);
      return [
        muted(String(first + index)),
        personCell(person),
        team === null ? muted(UNASSIGNED) : linkTo('/teams', team, team),
        credits,
        shareOf(credits, total),
        { kind: 'weeks', values: weeksOf(userId) },
        activeDays,
        model === undefined ? muted('–') : { kind: 'text', text: model },
        change ?? noNumber('it was not compared', 'compactChange'),
        relative ?? muted('new'),
      ];
    }),
    isDense: true,
    sorting: order,
  };
}
