import type { FocusReport } from '../../../bi/focus/report.ts';
import type { Total } from '../../../bi/focus/totals.ts';
import { escapeForTerminal } from '../../text/escape.ts';
import { counted, formatBytes, formatNumber } from '../../text/quantity.ts';
import { type Cell, renderTable, right, type TableFrame } from '../../text/table.ts';

/** Draws what a FOCUS file holds, and how it compares with the metric. */
export function renderFocus(report: FocusReport, frame: TableFrame): string[] {
  const { file, bytes, is_unchanged, total, currency, metric_cost, difference, days } = report;
  const columns = ['', right('rows'), right('billable tokens'), right(`cost ${currency ?? ''}`.trim())];
  const state = is_unchanged ? 'unchanged' : 'written';
  return [
    ...renderTable(columns, tableOf(report), frame),
    ...(metric_cost === null || difference === null
      ? ['the metric cost has no value for this month']
      : [`metric cost: ${amount(metric_cost)}; the month is ${describeDifference(difference)}`]),
    `days: ${days.settled} of ${days.expected} settled, ${days.unsettled.length} not settled, ${days.missing.length} missing`,
    ...(report.kind === 'correction' && total.rows === 0
      ? ['nothing has changed since these files were issued']
      : []),
    `${escapeForTerminal(file)}: ${state}, ${counted(total.rows, 'row')} in ${formatBytes(bytes)}`,
  ];
}

function tableOf({ kind, total, corrections, month_total, unattributed }: FocusReport): Cell[][] {
  const month = kind === 'original' ? [] : [line('month with all files', month_total)];
  const reasons = Object.entries(corrections ?? {}).map(([reason, sum]) => line(reason, sum));
  return [...reasons, line('this file', total), ...month, line('unattributed in the month', unattributed)];
}

function line(name: string, { rows, billable_tokens, cost }: Total): Cell[] {
  return [name, rows, billable_tokens, cost];
}

function describeDifference(difference: number): string {
  if (Math.abs(difference) < HALF_A_CENT) return 'equal';
  return `${amount(Math.abs(difference))} ${difference > 0 ? 'above' : 'below'} it`;
}

/** Amounts are shown with two decimals. */
const HALF_A_CENT = 0.005;

function amount(value: number): string {
  return formatNumber(value);
}
