import { sql } from '../../../schema/query.ts';
import { monthEndOf, monthOf, parseDay } from '../../core/day.ts';
import {
  type BudgetStatus,
  type CheckedBudget,
  currenciesOf,
  judgeBudget,
  storedPrices,
} from '../../csv-files/index.ts';
import { spanStart } from '../../expected/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import { headline } from '../figures/headline.ts';
import { comparison, doubtedDays, standing, teamWords } from '../figures/opening.ts';
import { drawFigure, drawPair, type FigureSpec, THINKING_SHARE } from '../figures/over-time.ts';
import { cellOf, noNumber, type Result, type ShownNumber, shareOf } from '../numbers.ts';
import {
  type Cell,
  emptyFigure,
  type Figure,
  type Headline,
  orNotKept,
  type Page,
  type Phrase,
} from '../page.ts';
import type { PageReader } from '../reader.ts';
import { asSentence, monthName, periodHeading, periodWords } from '../words.ts';
import type { PageKind } from './page-kind.ts';

const NO_PRICES = 'No prices are loaded: `daywalk prices load prices.csv`.';

function perWeek(by: 'model' | 'tier'): FigureSpec {
  return {
    draw: 'bars',
    id: `credits-by-${by}`,
    title: `Credits by ${by}, per week`,
    unit: 'Million, as published',
    metric: 'published_billable_tokens',
    by,
    grain: 'week',
    format: 'compact',
    divisor: 1e6,
  };
}

const MODELS: FigureSpec = {
  draw: 'ranking',
  id: 'models',
  title: 'Models',
  unit: 'Credits as published',
  metric: 'published_billable_tokens',
  by: 'model',
  thing: 'Model',
  amount: 'Credits, M',
  format: 'millions',
};

const CACHE: FigureSpec = {
  draw: 'lines',
  id: 'cache-share',
  title: 'Cache share',
  unit: 'Per cent of input tokens',
  metrics: [{ metric: 'cache_share', name: 'cache' }],
  grain: 'week',
  format: 'share',
  percent: true,
  zero: true,
};

const COST_PER_USER: FigureSpec = {
  draw: 'lines',
  id: 'cost-per-active-user',
  title: 'Cost per active user, per week',
  unit: 'Cost',
  metrics: [{ metric: 'cost_per_active_user', name: 'per user' }],
  grain: 'week',
  format: 'money',
  zero: true,
};

const COST_BY_TEAM = {
  draw: 'bars',
  id: 'cost-by-team',
  title: 'Cost by team, per month',
  unit: 'Cost',
  metric: 'cost',
  by: 'team',
  grain: 'month',
  months: 12,
  format: 'money',
  wide: true,
} as const satisfies FigureSpec;

/** Which models are used, and what it costs. */
export const models: PageKind = {
  path: '/models',
  name: 'Models and cost',
  async build(reader) {
    const share = (metric: string, title: string) => headline(reader, { metric, title, format: 'share' });
    const money = (metric: string, title: string) => headline(reader, { metric, title, format: 'money' });
    const cost = await money('cost', 'Cost');
    const perUser = await money('cost_per_active_user', 'Cost per active user');
    const thinking = await share('thinking_share', 'Thinking share');
    const cache = await share('cache_share', 'Cache share');
    const credits = await headline(reader, {
      metric: 'billable_tokens',
      title: 'Credits',
      format: 'compact',
    });
    const doubted = await doubtedDays(reader);
    return {
      name: 'Models and cost',
      heading: `Models and cost, ${periodHeading(reader.filters)}`,
      sentence: opening(reader, { credits, cost, perUser, doubted }),
      sections: [
        { kind: 'headlines', headlines: [cost, perUser, thinking, cache] },
        await drawPair(reader, perWeek('model'), MODELS),
        await drawPair(reader, perWeek('tier'), THINKING_SHARE),
        await drawPair(reader, CACHE, ofCost(COST_PER_USER, cost)),
        await drawFigure(
          reader,
          ofCost({ ...COST_BY_TEAM, ...(lacksPrices(cost) && { empty: NO_PRICES }) }, cost),
        ),
        await budgets(reader),
      ],
    } satisfies Page;
  },
};

function opening(
  { filters }: PageReader,
  {
    credits,
    cost,
    perUser,
    doubted,
  }: { credits: Headline; cost: Headline; perUser: Headline; doubted: Result },
): Phrase {
  const [now] = credits.results;
  if (now === undefined) return [];
  const rest = standing(now, doubted);
  if (credits.number.value === null)
    return [orNotKept(now, `Nothing is stored of ${periodWords(filters)}.`), ...rest];
  const used: Phrase = [
    teamWords(filters),
    { kind: 'strong', parts: [credits.number, ' credits'] },
    ...comparison(credits, filters),
  ];
  if (cost.number.value === null) {
    const why = lacksPrices(cost) ? NO_PRICES : asSentence(cost.number.why ?? 'it has no value');
    return [...used, `. What they cost is not known. ${why}`, ...rest];
  }
  // A number and its unit stay on one line.
  const unit = cost.unit === undefined ? '' : `\u00a0${cost.unit}`;
  return [
    ...used,
    ', cost ',
    { kind: 'strong', parts: [cost.number, unit] },
    ...(perUser.number.value === null ? [] : [', ', perUser.number, `${unit} per active user`]),
    '.',
    ...rest,
  ];
}

/** True if the metric has no currency, because no price is valid in the period. */
function lacksPrices({ results }: Headline): boolean {
  return results[0]?.unit === 'currency' && results[0].basis.days.expected > 0;
}

/** A figure of costs, whose unit is the currency. */
function ofCost(spec: FigureSpec, { unit }: Headline): FigureSpec {
  return { ...spec, unit: unit ?? spec.unit };
}

const BUDGETS_NAME = {
  id: 'budgets',
  title: 'Budgets',
  unit: 'Cost of the month against its budget',
} as const;

/** The budgets of the month in which the period ends: cost of all its stored days, forecast, and what is left to say. */
async function budgets(reader: PageReader): Promise<Figure> {
  const { orgId, until, team } = reader.filters;
  const first = monthOf(until);
  const month = first.slice(0, 7);
  const ofTeam = team === undefined ? sql`` : sql` AND b.team = ${team ?? UNASSIGNED}`;
  const query = sql`SELECT b.team, b.amount, b.currency, f.currency AS cost_currency, f.tokens_so_far, f.cost_so_far, f.cost_forecast
FROM budgets b
LEFT JOIN month_forecast f ON f.org_id = b.org_id AND f.month = b.month AND f.team = b.team
WHERE b.org_id = ${orgId} AND b.month = ${month}${ofTeam}
ORDER BY b.team, f.currency`;
  const last = await lastStored(reader);
  const period = { from: spanStart(first, last, reader.filters), until: last };
  const result = await reader.select({ title: 'Budgets and costs', query, streams: ['users'], ...period });
  const prices = await reader.select({
    title: 'Prices',
    query: storedPrices.select(orgId),
    streams: ['users'],
  });
  const currencies = currenciesOf(month, prices.rows.map(storedPrices.rowIn(orgId)));
  const shown = judged(result, currencies);
  const notKept = orNotKept(result, '');
  if (notKept !== '' || shown.length === 0) {
    return emptyFigure(BUDGETS_NAME, notKept || emptyWords(reader, monthName(until)), [result]);
  }
  const max = Math.max(...shown.map(({ budget }) => budget.cost_forecast ?? budget.cost_so_far ?? 0), 0);
  return {
    kind: 'figure',
    id: BUDGETS_NAME.id,
    title: BUDGETS_NAME.title,
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
    budget[column] === null
      ? noNumber(WHY_NO_COST[status], 'money')
      : cellOf(result, row, 'money', { column });
  const amount = cellOf(result, row, 'money', { column: 'amount', open: null });
  const soFar = money('cost_so_far');
  return [
    { kind: 'text', text: team, isMuted: team === UNASSIGNED },
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
const WHY_NO_COST: Readonly<Record<BudgetStatus, string>> = {
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
function emptyWords({ filters }: PageReader, month: string): string {
  if (filters.team !== undefined) return `This team has no budget for ${month}.`;
  return `No budgets are loaded for ${month}: \`daywalk budget load budgets.csv\`.`;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
