import type { RowOf } from '../../../schema/row.ts';
import type { tables } from '../../../schema/tables.ts';
import { dayCell, optional, required } from '../csv/columns.ts';
import { Mistakes } from '../csv/mistakes.ts';
import type { CsvRow } from '../csv/read-csv.ts';
import { currencyCell, moneyCell } from './money-cells.ts';

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
