import { sql } from '../../../schema/query.ts';
import { FIRST_DAY, monthEndOf, monthOf, parseDay } from '../../core/day.ts';
import { currenciesOf } from '../../metrics/money/budget-check.ts';
import { type BudgetStatus, type CheckedBudget, judgeBudget } from '../../metrics/money/budgets.ts';
import { priceIn, selectPrices } from '../../metrics/money/stored-money.ts';
import { isRestricted, namelessOf } from '../audience/audience.ts';
import type { PageReader } from '../data/reader.ts';
import type { Result } from '../data/result.ts';
import { cellOf, noNumber, type ShownNumber, shareOf } from '../page/numbers.ts';
import type { Cell, Figure } from '../page/page.ts';
import { monthName } from '../words/spans.ts';
import { emptyFigure } from './empty-figure.ts';

const NAME = { id: 'budgets', title: 'Budgets', unit: 'Cost of the month against its budget' } as const;

/** The budgets of the month in which the period ends: cost of all its stored days, forecast, and what is left to say. */
export async function budgets(reader: PageReader): Promise<Figure> {
  const { orgId, until, team } = reader.filters;
  if (isRestricted(reader.viewer)) return emptyFigure(NAME, FOR_MANAGERS);
  const first = monthOf(until);
  const month = first.slice(0, 7);
  const ofTeam = team === undefined ? sql`` : sql` AND b.team = ${team ?? namelessOf('team')}`;
  const query = sql`SELECT b.team, b.amount, b.currency, f.currency AS cost_currency, f.tokens_so_far, f.cost_so_far, f.cost_forecast
FROM budgets b
LEFT JOIN month_forecast f ON f.org_id = b.org_id AND f.month = b.month AND f.team = b.team
WHERE b.org_id = ${orgId} AND b.month = ${month}${ofTeam}
ORDER BY b.team, f.currency`;
  const period = { from: first < FIRST_DAY ? FIRST_DAY : first, until: await lastStored(reader) };
  const result = await reader.select({ title: 'Budgets and costs', query, streams: ['users'], ...period });
  const prices = await reader.select({ title: 'Prices', query: selectPrices(orgId), streams: ['users'] });
  const currencies = currenciesOf(month, prices.rows.map(priceIn(orgId)));
  const shown = judged(result, currencies);
  if (shown.length === 0) return emptyFigure(NAME, emptyWords(reader, monthName(until)), [result]);
  const max = Math.max(...shown.map(({ budget }) => budget.cost_forecast ?? budget.cost_so_far ?? 0), 0);
  return {
    kind: 'figure',
    id: NAME.id,
    title: NAME.title,
    subtitle: `${monthName(until)} ${until.slice(0, 4)}, all stored days; bars show the forecast`,
    table: {
      columns: [
        { title: 'Team' },
        { title: 'So far', align: 'end' },
        { title: 'Forecast', align: 'end' },
        { title: '' },
        { title: 'Budget', align: 'end' },
        { title: 'Currency', isSpare: true },
        { title: 'Used', align: 'end' },
        { title: 'Status' },
      ],
      rows: shown.map((line) => rowOf(line, result, max)),
    },
    tableIs: 'shown',
    results: [result],
    notes: [[FORECAST]],
  };
}

interface Line {
  readonly budget: CheckedBudget;
  /** The first row of the team. */
  readonly row: number;
}

/** A team has a row per currency of its costs. */
function judged({ rows }: Result, currencies: ReadonlySet<string>): Line[] {
  const teams = [...new Set(rows.map(({ team }) => String(team)))];
  return teams.map((team) => {
    const own = rows.filter((row) => String(row['team']) === team);
    const used = own.map((row) => ({
      team,
      currency: typeof row['cost_currency'] === 'string' ? row['cost_currency'] : null,
      tokens_so_far: numberOf(row['tokens_so_far']),
      cost_so_far: numberOf(row['cost_so_far']),
      cost_forecast: numberOf(row['cost_forecast']),
    }));
    const [first] = own;
    const currency = String(first?.['currency']);
    const amount = Number(first?.['amount']);
    const budget = judgeBudget({ org_id: '', month: '', team, amount, currency }, used, currencies);
    return { budget, row: rows.findIndex((row) => String(row['team']) === team) };
  });
}

function rowOf({ budget, row }: Line, result: Result, max: number): Cell[] {
  const { team, status, currency } = budget;
  const money = (column: 'cost_so_far' | 'cost_forecast'): ShownNumber =>
    budget[column] === null ? noNumber(WHY[status], 'money') : cellOf(result, row, 'money', { column });
  const amount = cellOf(result, row, 'money', { column: 'amount', open: null });
  const soFar = money('cost_so_far');
  return [
    { kind: 'text', text: team, isMuted: team === namelessOf('team') },
    soFar,
    money('cost_forecast'),
    { kind: 'bar', value: budget.cost_forecast, max },
    amount,
    { kind: 'text', text: currency },
    shareOf(soFar, amount),
    { kind: 'text', text: status, isMuted: status === 'ok' },
  ];
}

/** Why a team has no cost. */
const WHY: Readonly<Record<BudgetStatus, string>> = {
  ok: 'no weekday of the month is settled yet',
  'over budget': 'no weekday of the month is settled yet',
  'forecast over budget': 'no weekday of the month is settled yet',
  'no price': 'a day with credits has no price',
  'other currency': 'the prices of the month are not in the currency of the budget',
  'no data': 'nothing of the team is stored in the month',
};

/** The last day of users in the month in which the period ends; that of the period if none is stored. */
async function lastStored(reader: PageReader) {
  const { orgId, until } = reader.filters;
  const query = sql`SELECT MAX(date) AS day FROM export_units
WHERE org_id = ${orgId} AND stream = 'users' AND rows > 0 AND date BETWEEN ${until} AND ${monthEndOf(until)}`;
  const { rows } = await reader.select({ title: 'Last day of the month', query, streams: ['users'] });
  const day = rows[0]?.['day'];
  return typeof day === 'string' ? parseDay(day) : until;
}

const FORECAST =
  'The forecast is the cost of the settled days, divided by their Mondays to Fridays, times those of the month.';

/** A forecast tells the cost of the settled days; with the cost so far, it would give away single days of a team. */
const FOR_MANAGERS = 'Budgets are for managers, because forecasts would show what teams did on single days.';

function emptyWords({ filters }: PageReader, month: string): string {
  if (filters.team !== undefined) return `This team has no budget for ${month}.`;
  return `No budgets are loaded for ${month}: \`daywalk budget load budgets.csv\`.`;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
