import type { RowOf } from '../../../schema/row.ts';
import type { tables } from '../../../schema/tables.ts';
import { FIRST_DAY } from '../../core/day.ts';
import { monthCell, required, textCell } from '../csv/columns.ts';
import { Mistakes } from '../csv/mistakes.ts';
import type { CsvRow } from '../csv/read-csv.ts';
import { currencyCell, moneyCell } from './money-cells.ts';
import type { LinesOf } from './prices-file.ts';

/** A row of `budgets`. */
export type BudgetRow = RowOf<typeof tables.budgets>;

/** The first month with data. */
export const FIRST_MONTH = FIRST_DAY.slice(0, 'YYYY-MM'.length);

/** The columns of a file of budgets. */
export const BUDGETS_FORMAT = {
  columns: {
    month: required(monthCell),
    team: required(textCell),
    amount: required(moneyCell),
    currency: required(currencyCell),
  },
} as const;

/** The columns of a written file, which can be loaded again. */
export const BUDGETS_COLUMNS = ['month', 'team', 'amount', 'currency'] as const;

/** Whose budgets they are. */
export interface BudgetsOf extends LinesOf {
  /** The name of a team as it is stored, without erased people. @default as it is */
  readonly nameOf?: (team: string) => string;
}

/**
 * Turns the lines of a file into budgets, in the order of months and teams.
 * @throws {UsageError} that names file, line and remedy of every month before the service, and of every month and team that
 * occurs twice.
 */
export function budgetsOf(
  lines: readonly CsvRow<typeof BUDGETS_FORMAT.columns>[],
  { orgId, file, nameOf = (team) => team }: BudgetsOf,
): BudgetRow[] {
  const mistakes = new Mistakes(file);
  const seen = new Map<string, number>();
  for (const { line, cells } of lines) {
    const { month, team } = cells;
    if (month < FIRST_MONTH) {
      const message = `month "${month}" is before the first month with data`;
      mistakes.add({ line, message, hint: `the first month is ${FIRST_MONTH}` });
    }
    const key = budgetKey(cells);
    const earlier = seen.get(key);
    if (earlier === undefined) seen.set(key, line);
    else {
      const message = `line ${earlier} has a budget of ${team} for ${month} too`;
      mistakes.add({ line, message, hint: 'remove one of the two lines' });
    }
  }
  mistakes.refuse();
  return lines
    .map(({ cells }) => ({ org_id: orgId, ...cells, team: nameOf(cells.team) }))
    .toSorted((a, b) => (budgetKey(a) < budgetKey(b) ? -1 : 1));
}

/** Names a budget among those of an organization; sorts by month and team. */
export function budgetKey({ month, team }: Pick<BudgetRow, 'month' | 'team'>): string {
  return `${month} ${team}`;
}
