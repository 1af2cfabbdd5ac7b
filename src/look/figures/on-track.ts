import { sql, workingDay } from '../../../schema/query.ts';
import { monthEndOf, monthOf, parseDay, shiftDay, type UtcDay } from '../../core/day.ts';
import { currenciesOf, judgeBudget, monthForecast, storedPrices } from '../../csv-files/index.ts';
import { spanStart } from '../../expected/index.ts';
import type { Period } from '../../metrics/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import { storedUnit } from '../../units/index.ts';
import {
  cellOf,
  differenceOf,
  noNumber,
  type Result,
  type ShownNumber,
  shareOf,
  wholeSumOf,
  zeroIn,
} from '../numbers.ts';
import { orNotKept } from '../page.ts';
import { type PageReader, tryAsk } from '../reader.ts';
import { hasForecast } from '../trust.ts';
import { monthName } from '../words.ts';
import { ALL, ratiosOf, readErrors } from './forecast-errors.ts';
import { byUrgency, mergedLine, type TrackLine, trackLine, wholeOf } from './track-line.ts';

/** Spend against the budgets of the month in which a period ends. */
export interface Track {
  readonly month: UtcDay;
  /** The days of it that are spent. */
  readonly period: Period;
  readonly currency: string | null;
  /** Why there is nothing to show, as a sentence. */
  readonly why: string | undefined;
  /** Teams with a budget, the most urgent first; those without one that have spent something are one line at the end. */
  readonly teams: readonly TrackLine[];
  readonly whole: TrackLine;
  readonly quarter: TrackLine | null;
  readonly hasBudgets: boolean;
  /** The complete months whose forecast errors are known. */
  readonly months: number;
  readonly results: readonly Result[];
}

const QUARTER_MONTHS = 3;

/** Reads budgets, costs and forecasts as `daywalk budget check` does, and how far earlier forecasts were off. */
export async function readTrack(reader: PageReader): Promise<Track> {
  const { filters, warehouse } = reader;
  const { orgId, until, team } = filters;
  const month = monthOf(until);
  const quarter = quarterOf(month);
  const budgets = await reader.select({
    title: 'Budgets of the quarter',
    query: sql`SELECT month, team, amount, currency FROM budgets
WHERE org_id = ${orgId} AND month BETWEEN ${nameOf(quarter[0] ?? month)} AND ${nameOf(quarter.at(-1) ?? month)}
ORDER BY month, team`,
    streams: ['users'],
  });
  const last = await lastStored(reader, month);
  const period = { from: spanStart(month, last, filters), until: last };
  const used = await reader.select({
    title: 'Cost and forecast of the month',
    query: await monthForecast.query(warehouse, orgId, nameOf(month)),
    streams: ['users'],
    ...{ ...period, isKept: true },
  });
  const prices = await reader.select({
    ...{ title: 'Prices', query: storedPrices.select(orgId), streams: ['users'] as const },
  });
  const currencies = currenciesOf(nameOf(month), prices.rows.map(storedPrices.rowIn(orgId)));
  const isWhole = team === undefined;
  const wanted = team === null ? UNASSIGNED : team;
  const own = budgets.rows.flatMap((row, index) =>
    row['month'] === nameOf(month) && (isWhole || row['team'] === wanted) ? [index] : [],
  );
  const errors = currencies.size === 1 && hasForecast(filters) ? await readErrors(reader, month, used) : null;
  const lineFor = lineMaker({ budgets, used, errors, currencies, allowed: hasForecast(filters) });
  const lines = own.map((row) => lineFor(String(budgets.rows[row]?.['team']), row));
  const rest = isWhole
    ? others(used, new Set(lines.map(({ name }) => name))).map((name) => lineFor(name))
    : [];
  const all = [...lines, ...rest];
  const whole = trackLine(monthName(month), {
    isTeam: false,
    spent: wholeOf(all, 'spent'),
    forecast: wholeOf(all, 'forecast'),
    budget: lines.length === 0 ? noNumber('no budget is loaded', 'round') : wholeOf(lines, 'budget'),
    ratios: ratiosOf(errors, isWhole ? ALL : (wanted ?? UNASSIGNED)),
  });
  const found =
    isWhole && lines.length > 0
      ? await quarterLine(reader, { month, quarter, whole, budgets, errors, currencies })
      : null;
  return {
    month,
    period,
    currency: currencies.size === 1 ? ([...currencies][0] ?? null) : null,
    why: whyNothing(used, currencies),
    teams: [...lines.toSorted(byUrgency), ...withoutBudget(rest)],
    whole,
    quarter: found?.line ?? null,
    hasBudgets: lines.length > 0,
    months: ratiosOf(errors, ALL).length,
    results: [budgets, used, ...(errors === null ? [] : [errors]), ...(found?.results ?? [])],
  };
}

function whyNothing(used: Result, currencies: ReadonlySet<string>): string | undefined {
  const notKept = orNotKept(used, '');
  if (notKept !== '') return notKept;
  if (currencies.size === 0) return 'No prices are loaded: `daywalk prices load prices.csv`.';
  return currencies.size > 1
    ? 'The prices of the month have several currencies, which are never added.'
    : undefined;
}

/** The name of a month: `2026-11`. */
function nameOf(month: UtcDay): string {
  return month.slice(0, 7);
}

function quarterOf(month: UtcDay): UtcDay[] {
  const number = Number(month.slice(5, 7));
  const first = number - ((number - 1) % QUARTER_MONTHS);
  return Array.from({ length: QUARTER_MONTHS }, (_, index) =>
    parseDay(`${month.slice(0, 4)}-${String(first + index).padStart(2, '0')}-01`),
  );
}

/** The last day of users in the month that ends a period; that of the period if none is stored. */
async function lastStored(reader: PageReader, month: UtcDay): Promise<UtcDay> {
  const { orgId, until } = reader.filters;
  // A Sunday without activity ends a month too, once a later day is loaded.
  const query = sql`SELECT MAX(u.date) AS day FROM export_units u
WHERE u.org_id = ${orgId} AND u.stream = 'users' AND ${storedUnit('u')} AND u.date BETWEEN ${month} AND ${monthEndOf(month)}
  AND u.date <= (SELECT MAX(date) FROM export_units WHERE org_id = ${orgId} AND stream = 'users' AND rows > 0)`;
  const { rows } = await reader.select({ title: 'Last day of the month', query, streams: ['users'] });
  const day = rows[0]?.['day'];
  return typeof day === 'string' && day > until ? parseDay(day) : until;
}

interface Sources {
  readonly budgets: Result;
  readonly used: Result;
  readonly errors: Result | null;
  readonly currencies: ReadonlySet<string>;
  /** False where no forecast may be shown. */
  readonly allowed: boolean;
}

/** Makes the line of a team; without a row of the budgets, of a team that has none. */
function lineMaker({ budgets, used, errors, currencies, allowed }: Sources) {
  const forecasts = used.rows.map(monthForecast.rowIn);
  return (name: string, row?: number): TrackLine => {
    const own = forecasts.filter(({ team }) => team === name);
    const amount = Number(budgets.rows[row ?? -1]?.['amount'] ?? 0);
    const currency = String(budgets.rows[row ?? -1]?.['currency'] ?? [...currencies][0] ?? '');
    const idle = { team: name, currency: null, tokens_so_far: 0, cost_so_far: 0, cost_forecast: 0 };
    const judged = judgeBudget(
      { org_id: '', month: '', team: name, amount, currency },
      own.length === 0 ? [idle] : own,
      currencies,
    );
    const index = forecasts.findIndex(({ team }) => team === name);
    const money = (column: 'cost_so_far' | 'cost_forecast', why: string) => {
      if (judged[column] === null) return noNumber(why, 'round');
      return index < 0 ? zeroIn(used, 'round') : cellOf(used, index, 'round', { column });
    };
    return trackLine(name, {
      isTeam: true,
      spent: money('cost_so_far', WHY_NO_COST[judged.status]),
      forecast: allowed
        ? money('cost_forecast', WHY_NO_COST[judged.status])
        : noNumber('days of the month are missing', 'round'),
      budget:
        row === undefined ? noNumber('no budget is loaded', 'round') : amountOf(budgets, row, currencies),
      ratios: ratiosOf(errors, name),
    });
  };
}

/** An amount in another currency than the prices would be misread, and is never added. */
function amountOf(budgets: Result, row: number, currencies: ReadonlySet<string>): ShownNumber {
  const currency = String(budgets.rows[row]?.['currency']);
  if (currencies.size > 0 && !currencies.has(currency))
    return noNumber(`the budget is in ${currency}`, 'round');
  return cellOf(budgets, row, 'round', { column: 'amount', open: null });
}

/** Why a team has no cost or no forecast. */
const WHY_NO_COST = {
  ok: 'no working day of the month is settled yet',
  'over budget': 'no working day of the month is settled yet',
  'forecast over budget': 'no working day of the month is settled yet',
  'no price': 'a day with credits has no price',
  'other currency': 'the prices of the month are not in the currency of the budget',
  'no data': 'nothing of the team is stored in the month',
} as const;

/** Teams that have used something and have no budget. */
function others({ rows }: Result, budgeted: ReadonlySet<string>): string[] {
  const names = rows.map(({ team }) => String(team)).filter((team) => !budgeted.has(team));
  return [...new Set(names)];
}

/** The teams without a budget as one line. */
function withoutBudget(lines: readonly TrackLine[]): TrackLine[] {
  if (lines.length === 0) return [];
  const merged = mergedLine('no budget', lines);
  return [{ ...merged, budget: noNumber('no budget is loaded', 'round') }];
}

interface QuarterSources extends Omit<Sources, 'used' | 'allowed'> {
  readonly month: UtcDay;
  readonly quarter: readonly UtcDay[];
  readonly whole: TrackLine;
}

/** The quarter: its months before, the forecast of this one, and as much per working day in those that follow. */
async function quarterLine(
  reader: PageReader,
  { month, quarter, whole, budgets, errors, currencies }: QuarterSources,
): Promise<{ line: TrackLine; results: readonly Result[] } | null> {
  const { filters } = reader;
  const first = spanStart(quarter[0] ?? month, filters.until, filters);
  const asked =
    first < month
      ? await tryAsk(reader, {
          ...{ metric: 'cost', title: 'Cost of the months before', by: ['month'], team: 'everybody' },
          ...{ from: first, until: shiftDay(month, -1) },
        })
      : null;
  if (asked?.kind === 'refusal') return null;
  // Costs in another currency than that of the month are never added to it.
  if (asked !== null && !['currency', ...currencies].includes(asked.result.unit ?? '')) return null;
  const weekdays = await reader.select({
    title: 'Working days of the months',
    query: sql`SELECT d.month, SUM(${sql.raw(workingDay('d', 'o.org_id'))}) AS weekdays
FROM (SELECT ${filters.orgId} AS org_id) o CROSS JOIN dates d
WHERE d.month BETWEEN ${nameOf(month)} AND ${nameOf(quarter.at(-1) ?? month)} GROUP BY d.month ORDER BY d.month`,
    streams: ['users'],
  });
  const past = asked === null ? [] : asked.result.rows.map((_, row) => cellOf(asked.result, row, 'round'));
  const perWeekday = (row: number) => cellOf(weekdays, row, 'count', { column: 'weekdays', open: null });
  const coming = weekdays.rows
    .slice(1)
    .map((_, index) => shareOf(whole.forecast, shareOf(perWeekday(0), perWeekday(index + 1))));
  const open = wholeSumOf([whole.forecast, ...coming], 'round');
  const months = new Set(budgets.rows.map((row) => row['month']));
  const lacking = quarter.find((own) => !months.has(nameOf(own)));
  const budget =
    lacking === undefined
      ? wholeSumOf(
          budgets.rows.map((_, row) => amountOf(budgets, row, currencies)),
          'round',
        )
      : noNumber(`no budget is loaded for ${monthName(lacking)}`, 'round');
  const spent = past.length === 0 ? whole.spent : wholeSumOf([...past, whole.spent], 'round');
  const line = trackLine('Quarter', {
    ...{ isTeam: false, spent, budget },
    forecast: past.length === 0 ? open : wholeSumOf([...past, open], 'round'),
    ratios: ratiosOf(errors, ALL),
    limit: shareOf(past.length === 0 ? budget : differenceOf(budget, wholeSumOf(past, 'round')), open),
    open: open.value ?? 0,
  });
  return { line, results: [...(asked === null ? [] : [asked.result]), weekdays] };
}
