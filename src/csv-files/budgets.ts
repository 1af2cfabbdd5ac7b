import { sql } from '../../schema/query.ts';
import type { RowOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { FIRST_DAY } from '../core/day.ts';
import { nearestName, UsageError } from '../core/errors.ts';
import { compareText } from '../core/json.ts';
import type { Steps } from '../port/index.ts';
import { UNASSIGNED } from '../rollups/index.ts';
import {
  type CellParser,
  currencyCell,
  Mistakes,
  moneyCell,
  monthCell,
  required,
  teamCell,
} from './csv-columns.ts';
import {
  type LoadedFile,
  oneRowEach,
  type RowChanges,
  type RowTypes,
  rowChanges,
  rowScreen,
} from './loaded-file.ts';
import { currenciesOf, type PriceRow, storedPrices } from './prices.ts';
import { rowStoreOf, storedRows } from './replace-rows.ts';

/** A row of `budgets`. */
export type BudgetRow = RowOf<typeof tables.budgets>;

/** The budgets of an organization, by month and team. */
export const storedBudgets = rowStoreOf(tables.budgets);

/** The first month with data. */
export const FIRST_MONTH = FIRST_DAY.slice(0, 'YYYY-MM'.length);

const monthWithData: CellParser<string> = (text) => {
  const month = monthCell(text);
  if (month >= FIRST_MONTH) return month;
  throw new UsageError('is before the first month with data', { hint: `the first month is ${FIRST_MONTH}` });
};

/** What a load of budgets has changed and found. */
interface FoundBudgets extends RowChanges<BudgetRow> {
  /** Number of budgets in the file. */
  readonly budgets: number;
  /** What is doubtful about them, one sentence each. */
  readonly warnings: readonly string[];
}

const columns = {
  month: required(monthWithData),
  team: required(teamCell),
  amount: required(moneyCell),
  currency: required(currencyCell),
} as const;

/** The budget of each team and month. */
export const budgetsFile: LoadedFile<RowTypes<typeof columns, BudgetRow, FoundBudgets>> = {
  noun: ['budget', 'budgets'],
  format: { columns },
  holdsTexts: true,
  store: storedBudgets,
  linesOf: (lines, { orgId, file, gate }) => {
    const mistakes = new Mistakes(file);
    const budgets = lines.map(({ line, cells }) => ({
      line,
      row: { org_id: orgId, ...cells, team: gate.key(cells.team) },
    }));
    for (const [first, ...others] of Map.groupBy(budgets, ({ row }) => nameOf(row)).values()) {
      for (const { line, row } of others) {
        const message = `line ${first?.line} has a budget of ${row.team} for ${row.month} too`;
        mistakes.add({ line, message, hint: 'remove one of the two lines' });
      }
    }
    mistakes.refuse();
    return budgets.toSorted((a, b) => compareText(nameOf(a.row), nameOf(b.row)));
  },
  compared: oneRowEach<BudgetRow>(nameOf),
  *find({ orgId, lines, changes }) {
    const budgets = lines.map(({ row }) => row);
    const warnings = yield* warningsOf(orgId, budgets);
    return { budgets: budgets.length, ...rowChanges(changes), warnings };
  },
  list: (orgId) => storedRows(storedBudgets, orgId),
  written: (budget) => budget,
  screen: {
    ...rowScreen<BudgetRow>({
      columns: ['month', { header: 'team', shrinks: true }, { header: 'budget', align: 'right' }],
      cellsOf: ({ month, team, amount, currency }, words) => [
        month,
        words.text(team),
        words.money(amount, currency),
      ],
    }),
    sizeOf: ({ budgets }) => budgets,
    warningsOf: ({ warnings }) => warnings,
    whenEmpty: 'no budgets are loaded; daywalk budget load stores those of a CSV file',
  },
};

/** Names a budget among those of an organization; sorts by month and team. */
function nameOf({ month, team }: Pick<BudgetRow, 'month' | 'team'>): string {
  return `${month} ${team}`;
}

/** The most teams or months that a warning names. */
const NAMED_MAX = 10;

/** What is doubtful about budgets, one sentence each: teams that nobody is in, and currencies without a price. */
function* warningsOf(orgId: string, budgets: readonly BudgetRow[]): Steps<string[]> {
  const prices = yield* storedRows(storedPrices, orgId);
  return [
    ...(yield* teamWarnings(orgId, budgets, 'No person has a team yet, so that all cost is unassigned.')),
    ...currencyWarnings(budgets, prices),
  ];
}

/**
 * Says which teams of a file nobody is in; nothing of a row without a team.
 * @param whenNobody what is said instead if no person has a team
 */
export function* teamWarnings(
  orgId: string,
  rows: readonly { readonly team: string }[],
  whenNobody: string,
): Steps<string[]> {
  const people = yield sql`SELECT DISTINCT team FROM people WHERE org_id = ${orgId} AND team IS NOT NULL`;
  const known = people.map(({ team }) => String(team)).toSorted();
  const teams = [...new Set(rows.map(({ team }) => team))];
  const unknown = teams.filter((team) => ![UNASSIGNED, '', ...known].includes(team));
  if (unknown.length === 0) return [];
  if (known.length === 0) return [whenNobody];
  const names = unknown.map((team) => {
    const near = nearestName(team, known);
    return near === undefined ? `"${team}"` : `"${team}" (did you mean "${near}"?)`;
  });
  return [`Nobody is in ${unknown.length === 1 ? 'the team' : 'the teams'} ${listed(names)}.`];
}

function currencyWarnings(budgets: readonly BudgetRow[], prices: readonly PriceRow[]): string[] {
  const other = budgets.filter(({ month, currency }) => {
    const priced = currenciesOf(month, prices);
    return priced.size > 0 && (priced.size > 1 || !priced.has(currency));
  });
  const months = [...new Set(other.map(({ month }) => month))];
  if (months.length === 0) return [];
  return [`Prices and budgets have different currencies in ${listed(months)}; they cannot be compared.`];
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return [...names.slice(0, NAMED_MAX), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
