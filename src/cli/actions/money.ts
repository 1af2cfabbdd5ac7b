import {
  type BudgetLoad,
  checkBudget,
  listBudgets,
  listPrices,
  loadBudgets,
  loadPrices,
  type PricesLoad,
} from '../../../jobs/money.ts';
import { parseMonth } from '../../core/day.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { BudgetCheck } from '../../metrics/money/budget-check.ts';
import {
  BUDGETS_COLUMNS,
  type BudgetRow,
  type BudgetStatus,
  type CheckedBudget,
} from '../../metrics/money/budgets.ts';
import { PRICES_COLUMNS, type PriceRow } from '../../metrics/money/prices.ts';
import type { Change, Changes } from '../../metrics/money/stored-money.ts';
import { writeCsv } from '../../metrics/write-csv.ts';
import { csvLines, type ScreenFrame } from '../output/output.ts';
import type { Paint, Style } from '../output/terminal.ts';
import { type Action, loadRequestOf } from '../program/command.ts';
import { counted, formatMoney, formatNumber, formatPrice } from '../screens/numbers.ts';
import { nameSpans, renderProvenance, renderWarnings } from '../screens/provenance.ts';
import {
  type Cell,
  renderListing,
  renderTable,
  right,
  shrinking,
  type TableColumn,
  type TableFrame,
} from '../screens/table.ts';

export const loadPricesAction: Action = async (context) => {
  const { settings, job, out } = context;
  const load = await loadPrices(settings, loadRequestOf(context), job);
  out.show(load, (frame) => renderPricesLoad(load, frame));
  return EXIT.ok;
};

const PRICE_COLUMNS = {
  names: ['from', 'to'],
  nameOf: ({ valid_from, valid_to }: PriceRow) => [valid_from, valid_to],
  amountOf: ({ price_per_million, currency }: PriceRow) => formatPrice(price_per_million, currency),
};

/** Draws what a load of prices has changed, and which days have no price. */
export function renderPricesLoad(load: PricesLoad, frame: ScreenFrame): string[] {
  return [
    frame.style.green(pricesHeadline(load)),
    ...renderChanges(load, PRICE_COLUMNS, frame),
    ...renderWarnings(pricesWarnings(load), frame),
  ];
}

function pricesHeadline({ prices, changes, dry_run }: PricesLoad): string {
  const all = counted(prices, 'price');
  if (changes.length === 0) return `prices: nothing to do; stored already: ${all}`;
  return dry_run ? `prices: dry run, nothing is stored; ${all} in the file` : `prices: ${all} stored`;
}

function pricesWarnings({ without_price: gaps, currencies }: PricesLoad): string[] {
  return [
    ...(gaps.length === 0 ? [] : [`Days without a price have no cost: ${nameSpans(gaps)}.`]),
    ...(currencies.length > 1
      ? [`The prices are in ${currencies.join(' and ')}; costs are never added over currencies.`]
      : []),
  ];
}

export const listPricesAction: Action = async ({ settings, job, flags, out }) => {
  const list = await listPrices(settings, { organization: flags.text('--organization') }, job);
  const csv = () => writeCsv(PRICES_COLUMNS, list.prices);
  out.show(list, (frame) =>
    flags.isOn('--csv') ? csvLines(csv(), frame) : renderPrices(list.prices, frame),
  );
  return EXIT.ok;
};

function renderPrices(prices: readonly PriceRow[], frame: ScreenFrame): string[] {
  if (prices.length === 0) return ['no prices are loaded; daywalk prices load stores those of a CSV file'];
  const rows = prices.map(({ valid_from, valid_to, price_per_million, currency }) => [
    valid_from,
    valid_to,
    formatPrice(price_per_million, currency),
  ]);
  return renderTable(['from', 'to', right('price per million')], rows, frame);
}

export const loadBudgetAction: Action = async (context) => {
  const { settings, job, out } = context;
  const load = await loadBudgets(settings, loadRequestOf(context), job);
  out.show(load, (frame) => renderBudgetsLoad(load, frame));
  return EXIT.ok;
};

function renderBudgetsLoad(load: BudgetLoad, frame: ScreenFrame): string[] {
  const columns = {
    names: ['month', shrinking('team')],
    nameOf: ({ month, team }: BudgetRow) => [month, frame.redact(team)],
    amountOf: ({ amount, currency }: BudgetRow) => formatMoney(amount, currency),
  };
  return [
    frame.style.green(budgetsHeadline(load)),
    ...renderChanges(load, columns, frame),
    ...renderWarnings(load.warnings, frame),
  ];
}

function budgetsHeadline({ budgets, changes, dry_run }: BudgetLoad): string {
  const all = counted(budgets, 'budget');
  if (changes.length === 0) return `budgets: nothing to do; stored already: ${all}`;
  return dry_run ? `budgets: dry run, nothing is stored; ${all} in the file` : `budgets: ${all} stored`;
}

export const listBudgetAction: Action = async ({ settings, job, flags, out }) => {
  const list = await listBudgets(settings, { organization: flags.text('--organization') }, job);
  const csv = () => writeCsv(BUDGETS_COLUMNS, list.budgets);
  out.show(list, (frame) =>
    flags.isOn('--csv') ? csvLines(csv(), frame) : renderBudgets(list.budgets, frame),
  );
  return EXIT.ok;
};

function renderBudgets(budgets: readonly BudgetRow[], frame: ScreenFrame): string[] {
  if (budgets.length === 0) return ['no budgets are loaded; daywalk budget load stores those of a CSV file'];
  const rows = budgets.map(({ month, team, amount, currency }) => [
    month,
    frame.redact(team),
    formatMoney(amount, currency),
  ]);
  return renderTable(['month', shrinking('team'), right('budget')], rows, frame);
}

export const checkBudgetAction: Action = async ({ settings, job, flags, out }) => {
  const request = {
    month: flags.parse('--month', parseMonth),
    organization: flags.text('--organization'),
  };
  const check = await checkBudget(settings, request, job);
  out.show(check, (frame) => renderCheck(check, frame));
  return check.exit_code;
};

const TEAMS_NAMED_MAX = 5;

/** Draws the budgets of a month: what is spent, the forecast, and what both rest on. */
export function renderCheck(check: BudgetCheck, frame: ScreenFrame): string[] {
  const columns = [shrinking('team'), right('so far'), right('forecast'), right('budget'), 'status'];
  const rows = check.teams.map((team) => checkedCells(team, frame));
  return [
    frame.style.bold(`Budgets of ${check.month}`),
    '',
    ...renderTable(columns, rows, { ...frame, indent: 2 }),
    ...renderWarnings(checkWarnings(check), frame),
    '',
    ...renderProvenance(check, frame, [forecastBasis(check)]).map(frame.style.dim),
  ];
}

function checkedCells(checked: CheckedBudget, { style, redact }: ScreenFrame): Cell[] {
  const { team, currency, budget, cost_so_far, cost_forecast, status } = checked;
  const money = (amount: number | null) => (amount === null ? null : formatMoney(amount, currency));
  return [
    redact(team),
    money(cost_so_far),
    money(cost_forecast),
    money(budget),
    { content: status, paint: statusPaint(status, style) },
  ];
}

function statusPaint(status: BudgetStatus, { red, yellow, green, dim }: Style): Paint {
  const paints: Readonly<Record<BudgetStatus, Paint>> = {
    ok: green,
    'over budget': red,
    'forecast over budget': yellow,
    'no price': red,
    'other currency': red,
    'no data': dim,
  };
  return paints[status];
}

function checkWarnings(check: BudgetCheck): string[] {
  const { month, teams, currencies, without_price, days } = check;
  const has = (status: BudgetStatus) => teams.some((team) => team.status === status);
  const warnings: string[] = [];
  if (days.missing.length === days.expected) {
    warnings.push(`No day of ${month} is stored, so there is no cost and no forecast.`);
  }
  if (has('no price')) {
    warnings.push(
      `A price is missing for ${nameSpans(without_price)}; load it with daywalk prices load. Its cost is not 0.`,
    );
  }
  if (has('other currency')) {
    warnings.push(
      `The prices of ${month} are in ${currencies.join(' and ')}; a budget needs the one currency of its month.`,
    );
  }
  return [...warnings, ...withoutBudget(check)];
}

function withoutBudget({ without_budget: teams }: BudgetCheck): string[] {
  if (teams.length === 0) return [];
  const named = teams.slice(0, TEAMS_NAMED_MAX).map(({ team, cost_so_far, currency }) => {
    const cost = cost_so_far === null || currency === null ? '–' : formatMoney(cost_so_far, currency);
    return `${team} (${cost})`;
  });
  const more = teams.length - TEAMS_NAMED_MAX;
  const rest = more > 0 ? [`and ${formatNumber(more)} more`] : [];
  return [`Without a budget: ${[...named, ...rest].join(', ')}.`];
}

function forecastBasis({ weekdays_settled, weekdays }: BudgetCheck): string {
  return `forecast from ${weekdays_settled} of ${counted(weekdays, 'weekday')}`;
}

const CHANGES_SHOWN_MAX = 20;

/** How a change of a row is drawn: the cells that name it, and its value. */
export interface ChangeColumns<Row> {
  readonly names: readonly (string | TableColumn)[];
  nameOf(row: Row): readonly (string | null)[];
  amountOf(row: Row): string;
}

/** Draws how many rows a load has added, removed and changed, and which. */
export function renderChanges<Row>(
  { added, removed, changed, unchanged, changes }: Changes<Row>,
  { names, nameOf, amountOf }: ChangeColumns<Row>,
  frame: TableFrame,
): string[] {
  const counts = { added, changed, removed, unchanged };
  const words = Object.entries(counts).map(([what, count]) => `${formatNumber(count)} ${what}`);
  const value = ({ before, after }: Change<Row>) => [
    before === null ? null : amountOf(before),
    after === null ? null : amountOf(after),
  ];
  const listing = renderListing(
    {
      columns: [...names, { header: 'before', align: 'right' }, { header: 'after', align: 'right' }],
      items: changes,
      row: (change) => {
        const row = change.after ?? change.before;
        return [...(row === null ? [] : nameOf(row)), ...value(change)];
      },
      shownMax: CHANGES_SHOWN_MAX,
    },
    { ...frame, indent: 2 },
  );
  return [`  ${words.join(', ')}`, ...(listing.length === 0 ? [] : ['', ...listing])];
}
