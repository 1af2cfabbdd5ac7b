import { checkBudget } from '../../../jobs/csv-files.ts';
import { parseMonth } from '../../core/day.ts';
import type { BudgetCheck, BudgetStatus } from '../../csv-files/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Paint, Style } from '../output/terminal.ts';
import type { Action } from '../program/command.ts';
import { counted, formatMoney, formatNumber } from '../screens/numbers.ts';
import { nameSpans, renderProvenance, renderWarnings } from '../screens/provenance.ts';
import { type Cell, renderTable, right, shrinking } from '../screens/table.ts';

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
  if (days.expected === 0) return check.warnings.map((warning) => `${warning}.`);
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
