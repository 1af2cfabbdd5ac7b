import type { RowOf } from '../../../schema/row.ts';
import type { tables } from '../../../schema/tables.ts';
import type { DaySpan } from '../../core/day.ts';
import { FIRST_DAY, isDay, shiftDay, type UtcDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { amountCell, type CellParser, dayCell, Mistakes, optional, required } from '../csv-columns.ts';
import type { CsvRow } from '../read-csv.ts';

/** The largest price or budget. It leaves room for its product with any number of credits. */
const AMOUNT_MAX = 1_000_000_000_000;

/** An ISO 4217 code of a currency, in capital letters. */
export const currencyCell: CellParser<string> = (text) => {
  const known = Intl.supportedValuesOf('currency');
  if (known.includes(text)) return text;
  const upper = text.toUpperCase();
  if (known.includes(upper)) {
    throw new UsageError('is not in capital letters', { hint: `write ${upper}` });
  }
  throw new UsageError('is not a currency of ISO 4217', { hint: 'write its code, for example EUR or USD' });
};

/** A sum of money: 0 or more, with a decimal point. */
export const moneyCell: CellParser<number> = (text) => {
  const amount = amountCell(text);
  if (amount <= AMOUNT_MAX) return amount;
  throw new UsageError(`is more than ${AMOUNT_MAX}`, { hint: 'check the number' });
};

/** A price that has no end ends on this day. */
export const OPEN_END = '9999-12-31';

/** A row of `prices`. */
export type PriceRow = RowOf<typeof tables.prices>;

/** The columns of a file of prices. */
export const PRICES_FORMAT = {
  columns: {
    valid_from: required(dayCell),
    valid_to: optional(dayCell),
    currency: required(currencyCell),
    price_per_million: required(moneyCell),
  },
} as const;

/** The columns of a written file, which can be loaded again. */
export const PRICES_COLUMNS = ['valid_from', 'valid_to', 'currency', 'price_per_million'] as const;

type PriceLine = CsvRow<typeof PRICES_FORMAT.columns>;

/** The lines of a file that become rows: whose they are, and how messages call the file. */
export interface LinesOf {
  readonly orgId: string;
  readonly file: string;
}

/**
 * Turns the lines of a file into prices, in the order of their periods.
 * @throws {UsageError} that names file, line and remedy of every period that is reversed or shares a day with another.
 */
export function pricesOf(lines: readonly PriceLine[], { orgId, file }: LinesOf): PriceRow[] {
  const mistakes = new Mistakes(file);
  for (const { line, cells } of lines) {
    if (cells.valid_to === null || cells.valid_to >= cells.valid_from) continue;
    const message = `valid_to ${cells.valid_to} is before valid_from ${cells.valid_from}`;
    mistakes.add({ line, message, hint: 'exchange the two days, or leave valid_to empty' });
  }
  const sorted = lines.toSorted((a, b) => compare(a, b));
  for (const [index, later] of sorted.entries()) addOverlap(sorted[index - 1], later, mistakes);
  mistakes.refuse();
  return sorted.map(({ cells }) => ({
    org_id: orgId,
    ...cells,
    valid_to: cells.valid_to === OPEN_END ? null : cells.valid_to,
  }));
}

function compare(a: PriceLine, b: PriceLine): number {
  if (a.cells.valid_from === b.cells.valid_from) return a.line - b.line;
  return a.cells.valid_from < b.cells.valid_from ? -1 : 1;
}

function addOverlap(earlier: PriceLine | undefined, later: PriceLine, mistakes: Mistakes): void {
  if (earlier === undefined || (earlier.cells.valid_to ?? OPEN_END) < later.cells.valid_from) return;
  const [first, second] = earlier.line < later.line ? [earlier, later] : [later, earlier];
  const currencies =
    earlier.cells.currency === later.cells.currency
      ? ''
      : `, in ${earlier.cells.currency} and ${later.cells.currency}`;
  mistakes.add({
    line: second.line,
    message: `the price of line ${first.line} is also valid on ${later.cells.valid_from}${currencies}`,
    hint:
      earlier.cells.valid_from === later.cells.valid_from
        ? 'remove one of the two lines'
        : `end the earlier price with valid_to on the day before ${later.cells.valid_from}`,
  });
}

type Period = Pick<PriceRow, 'valid_from' | 'valid_to'>;

/**
 * The days without a price: from the first day of the service to the newest loaded day, and between two prices.
 * @param prices in the order of their periods, without overlaps
 */
export function daysWithoutPrice(prices: readonly Period[], newest: UtcDay | null): DaySpan[] {
  const gaps: DaySpan[] = [];
  let next: UtcDay = FIRST_DAY;
  for (const { valid_from, valid_to } of prices) {
    if (isDay(valid_from) && valid_from > next) gaps.push({ from: next, until: shiftDay(valid_from, -1) });
    if (valid_to === null || valid_to === OPEN_END || !isDay(valid_to)) return gaps;
    const after = shiftDay(valid_to, 1);
    if (after > next) next = after;
  }
  if (newest !== null && next <= newest) gaps.push({ from: next, until: newest });
  return gaps;
}

/** The days among these that have no price. */
export function unpricedAmong(days: readonly UtcDay[], prices: readonly Period[]): UtcDay[] {
  return days.filter(
    (day) => !prices.some(({ valid_from, valid_to }) => valid_from <= day && (valid_to ?? OPEN_END) >= day),
  );
}
