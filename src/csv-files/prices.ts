import { sql } from '../../schema/query.ts';
import type { RowOf } from '../../schema/row.ts';
import { OPEN_END, validOn } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { type DaySpan, FIRST_DAY, isDay, parseMonth, shiftDay, type UtcDay } from '../core/day.ts';
import { loadedUnit } from '../metrics/index.ts';
import type { Steps } from '../port/index.ts';
import { currencyCell, dayCell, Mistakes, moneyCell, optional, required } from './csv-columns.ts';
import {
  type LoadedFile,
  oneRowEach,
  type RowChanges,
  type RowTypes,
  rowChanges,
  rowScreen,
} from './loaded-file.ts';
import { addOverlaps, addReversed, sortedByStart, storedEnd } from './periods.ts';
import { rowStoreOf, storedRows } from './replace-rows.ts';

/** A row of `prices`. */
export type PriceRow = RowOf<typeof tables.prices>;

/** The prices of an organization, in the order of their periods. */
export const storedPrices = rowStoreOf(tables.prices);

/** What a load of prices has changed and found. */
interface FoundPrices extends RowChanges<PriceRow> {
  /** Number of prices in the file. */
  readonly prices: number;
  /** Days without a price, until the newest loaded day and between two prices. */
  readonly without_price: readonly DaySpan[];
  /** The currencies of the prices. */
  readonly currencies: readonly string[];
}

const columns = {
  valid_from: required(dayCell),
  valid_to: optional(dayCell),
  currency: required(currencyCell),
  price_per_million: required(moneyCell),
} as const;

/** What a million billable tokens cost, and when. Two prices share no day. */
export const pricesFile: LoadedFile<RowTypes<typeof columns, PriceRow, FoundPrices>> = {
  noun: ['price', 'prices'],
  format: { columns },
  store: storedPrices,
  linesOf: (lines, { orgId, file }) => {
    const mistakes = new Mistakes(file);
    const prices = lines.map(({ line, cells }) => ({
      line,
      row: { org_id: orgId, ...cells, valid_to: storedEnd(cells.valid_to) },
    }));
    for (const price of prices) addReversed(price, mistakes);
    const sorted = sortedByStart(prices);
    addOverlaps(sorted, mistakes, ({ first, earlier, later }) => {
      const [{ currency: one, valid_from }, { currency: other, valid_from: day }] = [earlier.row, later.row];
      const currencies = one === other ? '' : `, in ${one} and ${other}`;
      return {
        message: `the price of line ${first.line} is also valid on ${day}${currencies}`,
        hint:
          valid_from === day
            ? 'remove one of the two lines'
            : `end the earlier price with valid_to on the day before ${day}`,
      };
    });
    mistakes.refuse();
    return sorted;
  },
  compared: oneRowEach(({ valid_from }) => valid_from),
  *find({ orgId, lines, changes }) {
    const prices = lines.map(({ row }) => row);
    return {
      prices: prices.length,
      ...rowChanges(changes),
      without_price: daysWithoutPrice(prices, yield* newestDayWithCredits(orgId)),
      currencies: [...new Set(prices.map(({ currency }) => currency))],
    };
  },
  list: (orgId) => storedRows(storedPrices, orgId),
  written: (price) => price,
  screen: {
    ...rowScreen<PriceRow>({
      columns: ['from', 'to', { header: 'price per million', align: 'right' }],
      cellsOf: ({ valid_from, valid_to, price_per_million, currency }, words) => [
        valid_from,
        valid_to,
        words.price(price_per_million, currency),
      ],
    }),
    sizeOf: ({ prices }) => prices,
    warningsOf: ({ without_price: gaps, currencies }, words) => [
      ...(gaps.length === 0 ? [] : [`Days without a price have no cost: ${words.spans(gaps)}.`]),
      ...(currencies.length > 1
        ? [`The prices are in ${currencies.join(' and ')}; costs are never added over currencies.`]
        : []),
    ],
    whenEmpty: 'no prices are loaded; daywalk prices load stores those of a CSV file',
  },
};

type Period = Pick<PriceRow, 'valid_from' | 'valid_to'>;

/**
 * The days without a price: from the first day of the service to the newest loaded day, and between two prices.
 * @param prices in the order of their periods, without overlaps
 */
function daysWithoutPrice(prices: readonly Period[], newest: UtcDay | null): DaySpan[] {
  const gaps: DaySpan[] = [];
  let next: UtcDay = FIRST_DAY;
  for (const { valid_from, valid_to } of prices) {
    if (isDay(valid_from) && valid_from > next) gaps.push({ from: next, until: shiftDay(valid_from, -1) });
    if (valid_to === null || !isDay(valid_to)) return gaps;
    const after = shiftDay(valid_to, 1);
    if (after > next) next = after;
  }
  if (newest !== null && next <= newest) gaps.push({ from: next, until: newest });
  return gaps;
}

/** The days among these that have no price. */
export function unpricedAmong(days: readonly UtcDay[], prices: readonly Period[]): UtcDay[] {
  return days.filter((day) => validOn(prices, day) === undefined);
}

/** The currencies of the prices that are valid on a day of a month. */
export function currenciesOf(month: string, prices: readonly PriceRow[]): ReadonlySet<string> {
  const { first, last } = parseMonth(month);
  const own = prices.filter(
    ({ valid_from, valid_to }) => valid_from <= last && (valid_to ?? OPEN_END) >= first,
  );
  return new Set(own.map(({ currency }) => currency));
}

/** The newest loaded day of users, or of the organization's credits if none of users is; null if neither is loaded. */
export function* newestDayWithCredits(orgId: string): Steps<UtcDay | null> {
  const [row] =
    yield sql`SELECT COALESCE(MAX(CASE WHEN e.stream = 'users' THEN e.date END), MAX(e.date)) AS day
    FROM export_units e WHERE e.org_id = ${orgId} AND e.stream IN ('users', 'tokens') AND ${loadedUnit('e')}`;
  const day = row?.['day'];
  return isDay(day) ? day : null;
}
