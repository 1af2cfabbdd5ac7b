import { sql } from '../../../schema/query.ts';
import { UsageError } from '../../core/errors.ts';
import { findTeam } from '../../metrics/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import {
  MEMBER_NUMBERS,
  membersTable,
  peopleOrder,
  readActivePeople,
  sortPeople,
} from '../figures/active-people.ts';
import { mainNumbers } from '../figures/headline.ts';
import { comparison } from '../figures/opening.ts';
import { drawFigure, recentCredits, THINKING_SHARE } from '../figures/over-time.ts';
import { cellOf, noNumber, shareOf } from '../numbers.ts';
import {
  emptinessOf,
  emptyFigure,
  type Figure,
  type Headline,
  orNotKept,
  type Page,
  type Phrase,
} from '../page.ts';
import { type PageReader, readerOfTeam, tryAsk } from '../reader.ts';
import { bucketOpenness, monthsUntil } from '../time-spans.ts';
import { asSentence, duringWords, nounFor, periodHeading, periodWords } from '../words.ts';
import type { PageKind } from './page-kind.ts';

/** One team, or the people without one. */
export const team: PageKind = {
  path: '/teams/:subject',
  async build(everybody, { subject }) {
    if (subject === undefined)
      throw new UsageError('no team is named', { hint: 'the page of teams lists them' });
    const found = await findTeam(everybody.warehouse, everybody.filters.orgId, subject);
    const reader = readerOfTeam(everybody, found);
    const { credits, users, sessions, commits } = await mainNumbers(reader);
    const name = found ?? UNASSIGNED;
    return {
      name,
      heading: `${name}, ${periodHeading(reader.filters)}`,
      sentence: sentenceOf(reader, credits, users),
      sections: [
        { kind: 'headlines', headlines: [credits, users, sessions, commits] },
        await recentCredits(reader),
        {
          kind: 'pair',
          figures: [await drawFigure(reader, THINKING_SHARE), await teamBudget(reader, found)],
        },
        await teamPeople(reader),
      ],
      basis: credits.results[0]?.basis,
    } satisfies Page;
  },
};

function sentenceOf({ filters }: PageReader, credits: Headline, users: Headline): Phrase {
  if (credits.number.value === null)
    return [orNotKept(credits.results[0], `Nothing is stored ${duringWords(filters)}.`)];
  if (users.number.value === 0) return [`Nobody of the team was active ${duringWords(filters)}.`];
  return [
    { kind: 'strong', parts: [credits.number, nounFor(credits.number, ' credit', ' credits')] },
    ...comparison(credits, filters),
    ', by ',
    { kind: 'strong', parts: [users.number, nounFor(users.number, ' person', ' people')] },
    '.',
  ];
}

const BUDGET_NAME = { id: 'cost', title: 'Cost and budget', unit: 'Per month' } as const;
const BUDGET_MONTHS = 6;

/** What a team cost in each of the last months, beside its budget. The last month ends with the period. */
async function teamBudget(reader: PageReader, team: string | null): Promise<Figure> {
  const { filters } = reader;
  const { from } = monthsUntil(filters, BUDGET_MONTHS);
  const asked = await tryAsk(reader, { metric: 'cost', title: 'Cost per month', by: ['month'], from });
  if (asked.kind === 'refusal') return emptyFigure(BUDGET_NAME, asSentence(asked.why));
  const cost = asked.result;
  if (cost.rows.every(({ value }) => value === null)) {
    const empty =
      cost.unit === 'currency'
        ? 'No prices are loaded: `daywalk prices load prices.csv`.'
        : emptinessOf(cost);
    return emptyFigure(BUDGET_NAME, empty, [cost]);
  }
  const budgets = await reader.select({
    title: 'Budgets',
    query: sql`SELECT month, amount, currency
FROM budgets
WHERE org_id = ${filters.orgId} AND team = ${team ?? UNASSIGNED} AND month BETWEEN ${from.slice(0, 7)} AND ${filters.until.slice(0, 7)}
ORDER BY month`,
    streams: ['users'],
    from,
  });
  const budgetOf = (month: unknown) => budgets.rows.findIndex((row) => row['month'] === month);
  return {
    kind: 'figure',
    id: BUDGET_NAME.id,
    title: BUDGET_NAME.title,
    subtitle: `${cost.unit === 'currency' ? 'Cost' : cost.unit}, per month; the last one to the end of the period`,
    table: {
      columns: [
        { title: 'Month' },
        { title: 'Cost', align: 'end' },
        { title: 'Budget', align: 'end' },
        { title: 'Used', align: 'end' },
      ],
      rows: cost.rows
        .map((row, index) => {
          const spent = cellOf(cost, index, 'money', {
            why: cost.warnings[0] ?? 'no day of it is stored',
            open: bucketOpenness(cost, 'month', String(row['month'])),
          });
          const found = budgetOf(row['month']);
          const isSame = found >= 0 && budgets.rows[found]?.['currency'] === cost.unit;
          const budget = isSame
            ? cellOf(budgets, found, 'money', { column: 'amount', open: null })
            : noNumber(found < 0 ? 'no budget is loaded' : 'the budget has another currency', 'money');
          return [
            { kind: 'text' as const, text: String(row['month']) },
            spent,
            budget,
            shareOf(spent, budget),
          ];
        })
        .toReversed(),
    },
    results: [cost, budgets],
    notes: cost.warnings.map((warning) => [asSentence(warning)]),
  };
}

const PEOPLE_NAME = { id: 'people', title: 'People', unit: 'Active people' } as const;
const PEOPLE_MAX = 100;

/** The people of a team with activity in it. It names people, so it is for managers only. */
async function teamPeople(reader: PageReader): Promise<Figure> {
  const { people, results } = await readActivePeople(reader, { numbers: MEMBER_NUMBERS, isCompared: false });
  if (people.length === 0)
    return emptyFigure(PEOPLE_NAME, 'Nobody of the team was active in this period.', results);
  const sorted = sortPeople(people, peopleOrder(undefined)).slice(0, PEOPLE_MAX);
  return {
    kind: 'figure',
    id: PEOPLE_NAME.id,
    title: PEOPLE_NAME.title,
    subtitle: `${PEOPLE_NAME.unit}, ${periodWords(reader.filters)}, most credits first`,
    table: membersTable(sorted, people),
    results,
    notes: [
      ['Only days in this team count.'],
      ...(people.length > PEOPLE_MAX ? [['The page of people lists everybody.']] : []),
    ],
  };
}
