import { resolve } from 'node:path';
import { checkBudget, checkInvoice, type InvoiceCheck } from '../../../jobs/csv-files.ts';
import { parseDay, parseMonth } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { type BudgetCheck, loadInvoices } from '../../csv-files/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Paint, Style } from '../output/terminal.ts';
import type { Action } from '../program/command.ts';
import { counted, formatMoney, formatNumber } from '../screens/numbers.ts';
import { nameSpans, renderProvenance, renderWarnings } from '../screens/provenance.ts';
import { type Cell, renderListing, renderTable, right, shrinking } from '../screens/table.ts';

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
function renderCheck(check: BudgetCheck, frame: ScreenFrame): string[] {
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

function checkedCells(checked: BudgetCheck['teams'][number], { style, redact }: ScreenFrame): Cell[] {
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

type BudgetStatus = BudgetCheck['teams'][number]['status'];

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
  if (check.warnings.length > 0) return check.warnings.map((warning) => `${warning}.`);
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
  return `forecast from ${weekdays_settled} of ${counted(weekdays, 'working day')}`;
}

const TOLERANCE = 0.005;

/** @throws {UsageError} if it is not a percentage up to 100 % */
function parseShare(text: string): number {
  const share = /^\d+(\.\d+)? ?%$/.test(text) ? Number.parseFloat(text) / 100 : Number.NaN;
  if (share <= 1) return share;
  throw new UsageError(`"${text}" is not a percentage`, {
    hint: 'write a percentage up to 100%, for example 0.5%',
  });
}

export const checkInvoiceAction: Action = async ({ settings, job, flags, out, operands, directory }) => {
  const [name = ''] = operands;
  const month = flags.parse('--month', parseMonth);
  if (month === undefined)
    throw new UsageError('--month is missing', { hint: 'give the month of the invoice' });
  const invoices = await loadInvoices();
  const request = {
    file: { name, path: resolve(directory, name) },
    month,
    columns: flags.parse('--columns', invoices.parseInvoiceColumns) ?? {},
    date: flags.parse('--date', parseDay),
    tolerance: flags.parse('--tolerance', parseShare) ?? TOLERANCE,
    organization: flags.text('--organization'),
  };
  const check = await checkInvoice(settings, request, job);
  out.show(check, (frame) => renderInvoice(check, frame));
  return check.exit_code;
};

const LINES_SHOWN_MAX = 40;
const VERDICTS = {
  agreed: 'the invoice and the warehouse agree',
  explained: 'the invoice differs by what was restated after its date',
  differs: 'the invoice and the warehouse differ',
} as const;

/** Draws the lines of an invoice beside the warehouse, the total, and what explains a difference. */
function renderInvoice(check: InvoiceCheck, frame: ScreenFrame): string[] {
  const { lines, not_invoiced: others, verdict, month, invoice_date: date, restated } = check;
  const paint = verdict === 'agreed' ? frame.style.green : frame.style.yellow;
  const compared = [
    shrinking('team'),
    shrinking('model'),
    right('invoice'),
    right('warehouse'),
    right('difference'),
  ];
  const inFrame = { ...frame, indent: 2 };
  return [
    paint(`${month}: ${VERDICTS[verdict]}`),
    '',
    ...renderListing(
      {
        columns: [...compared, 'status'],
        items: [...lines, ...others].toSorted((a, b) => Number(a.agreed) - Number(b.agreed)),
        row: (line) => invoiceCells(line, check, frame),
        shownMax: LINES_SHOWN_MAX,
      },
      inFrame,
    ),
    '',
    ...renderTable(
      [right(''), ...compared.slice(2), right('restated'), right('unexplained')],
      totalRows(check),
      inFrame,
    ),
    ...(restated.length === 0 ? [] : ['', `Restated after ${date}:`, ...renderRestated(check, inFrame)]),
    ...renderWarnings(check.warnings, frame),
    '',
    ...renderProvenance(check, frame).map(frame.style.dim),
  ];
}

function invoiceCells(
  line: InvoiceCheck['lines'][number],
  { currency }: InvoiceCheck,
  { style, redact }: ScreenFrame,
): Cell[] {
  const isAmount = line.amount.invoiced !== null;
  const { invoiced, stored, difference } = isAmount ? line.amount : line.credits;
  const shown = writing(isAmount ? currency : null);
  const differs = line.line === null ? 'not on the invoice' : 'differs';
  const status = line.agreed
    ? { content: 'agreed', paint: style.green }
    : { content: differs, paint: style.yellow };
  const names = [line.team, line.model].map((name) => (name === null ? 'all' : redact(name)));
  return [...names, shown(invoiced), shown(stored), shown(difference), status];
}

function writing(currency: string | null) {
  return (value: number | null) =>
    value === null ? null : currency === null ? formatNumber(value) : formatMoney(value, currency);
}

function totalRows({ total, currency }: InvoiceCheck): Cell[][] {
  return (['credits', 'amount'] as const)
    .filter((name) => total[name].invoiced !== null)
    .map((name) => {
      const { invoiced, stored, difference, restated, unexplained } = total[name];
      const shown = writing(name === 'amount' ? currency : null);
      return [`total ${name}`, ...[invoiced, stored, difference, restated, unexplained].map(shown)];
    });
}

function renderRestated(
  { restated, currency }: InvoiceCheck,
  frame: ScreenFrame & { indent: number },
): string[] {
  return renderListing(
    {
      columns: ['day', 'found', right('credits'), right('amount')],
      items: restated,
      row: ({ date, detected_at, change_credits, change_amount }) => [
        date,
        detected_at.slice(0, 10),
        formatNumber(change_credits),
        writing(currency)(change_amount),
      ],
      shownMax: LINES_SHOWN_MAX,
    },
    frame,
  );
}
