import { resolve } from 'node:path';
import {
  type FocusJob,
  focus,
  type PublishReport,
  type PublishRequest,
  publish,
} from '../../../jobs/publish.ts';
import type { AnyTable } from '../../../schema/define.ts';
import { publishedTables } from '../../../schema/tables.ts';
import { type FocusReport, formatOf, type Total } from '../../bi/index.ts';
import { parseMonth } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { DeltaReport, LakeReport } from '../../publish/index.ts';
import { SETTINGS } from '../../settings/index.ts';
import { limitHeapGrowth } from '../process/stop-signals.ts';
import type { Action, Flags } from '../program/command.ts';
import { counted, formatBytes, formatNumber } from '../screens/numbers.ts';
import { type Cell, renderTable, right, shrinking, type TableFrame } from '../screens/table.ts';
import { escapeForTerminal } from '../screens/text.ts';

/** A column of a row group is copied several times on its way into a file, and the copies need not pile up: a third less memory. */
const GROWTH_PERCENT = 20;

export const publishAction: Action = async ({ flags, settings, job, out, directory }) => {
  limitHeapGrowth(GROWTH_PERCENT);
  const report = await publish(settings, publishRequest(flags, directory), job);
  out.show(report, (frame) => renderPublished(report, frame));
  return EXIT.ok;
};

/** How long earlier versions of Delta tables stay: a reader that has begun can end. */
const KEPT = { count: 7, unit: 'd' } as const;

function publishRequest(flags: Flags, directory: string): PublishRequest {
  const place = (text: string) => placeOf(text, directory);
  const parquet = flags.parse('--parquet', place);
  const delta = flags.parse('--delta', place);
  const sqlite = flags.parse('--sqlite', place);
  const chosen = flags.parse('--tables', tablesOf);
  const keep = flags.like('--keep', SETTINGS.retainArchive);
  const force = flags.isOn('--force');
  if (parquet === undefined && delta === undefined && sqlite === undefined) {
    throw new UsageError('none of --delta, --parquet and --sqlite is given', {
      hint: 'give --delta DIR for Delta tables, --parquet DIR for Parquet files, --sqlite FILE for a copy, or several',
    });
  }
  if (parquet === undefined && delta === undefined && (chosen !== undefined || force)) {
    throw new UsageError(
      '--tables and --force only apply to Delta tables and Parquet files; --sqlite always writes everything',
      { hint: 'add --delta DIR or --parquet DIR, or omit them' },
    );
  }
  if (delta === undefined && keep !== undefined)
    throw new UsageError('--keep only applies to Delta tables', { hint: 'add --delta DIR, or omit it' });
  const what = { tables: chosen ?? publishedTables, force };
  return {
    ...(parquet === undefined ? {} : { parquet: { ...what, directory: parquet } }),
    ...(delta === undefined ? {} : { delta: { ...what, directory: delta, keep: keep ?? KEPT } }),
    ...(sqlite === undefined ? {} : { sqlite }),
  };
}

function placeOf(text: string, directory: string): string {
  if (text === '') throw new UsageError('the path is empty', { hint: 'name a path' });
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) {
    throw new UsageError('URLs are not supported', {
      hint: 'publish to a folder, and upload it with the tool of the object store',
    });
  }
  return resolve(directory, text);
}

function tablesOf(list: string): AnyTable[] {
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !publishedTables.some((table) => table.name === name));
  if (unknown === undefined) return publishedTables.filter(({ name }) => names.includes(name));
  throw new UsageError(`"${unknown}" is not a table`, { hint: 'daywalk schema lists the tables' });
}

const NUMBERS = ['rows', 'size', 'written', 'unchanged', 'removed'].map(right);
const LAKE_COLUMNS = [shrinking('table'), ...NUMBERS];

/** Draws what was published: the files of each table, and the copy. */
function renderPublished({ parquet, delta, sqlite }: PublishReport, frame: TableFrame): string[] {
  const copy =
    sqlite === null ? [] : [`${escapeForTerminal(sqlite.path)}: a copy of ${formatBytes(sqlite.bytes)}`];
  const lakes = [parquet, delta].filter((lake) => lake !== null);
  return [...lakes.flatMap((lake) => renderLake(lake, frame)), ...copy];
}

function renderLake({ directory, tables }: LakeReport | DeltaReport, frame: TableFrame): string[] {
  const rows = tables.map(({ table, rows, bytes, written, unchanged, removed }) => [
    table,
    rows,
    formatBytes(bytes),
    written,
    unchanged,
    removed,
  ]);
  const total = { rows: 0, bytes: 0, written: 0, unchanged: 0, removed: 0 };
  for (const table of tables) {
    total.rows += table.rows;
    total.bytes += table.bytes;
    total.written += table.written;
    total.unchanged += table.unchanged;
    total.removed += table.removed;
  }
  return [
    ...renderTable(LAKE_COLUMNS, rows, frame),
    `${escapeForTerminal(directory)}: ${counted(total.rows, 'row')} in ${formatBytes(total.bytes)}`,
    `${counted(total.written, 'file')} written, ${total.unchanged} unchanged, ${total.removed} removed`,
  ];
}

const DEFAULT_PROVIDER = 'Agent platform';
const NAME_CHARACTERS_MAX = 200;

export const focusAction: Action = async ({ flags, settings, job, out, log, directory }) => {
  const report = await focus(settings, focusRequest(flags, directory), job);
  for (const message of report.warnings) log.write({ level: 'warn', event: 'focus-warning', message });
  out.show(report, (frame) => renderFocus(report, frame), { afterLog: report.warnings.length > 0 });
  return EXIT.ok;
};

function focusRequest(flags: Flags, directory: string): FocusJob {
  const provider = flags.parse('--provider', nameOf) ?? DEFAULT_PROVIDER;
  return {
    organization: flags.text('--organization'),
    month: parsed(flags, '--month', parseMonth),
    path: parsed(flags, '--out', (text) => pathOf(text, directory)),
    corrects: flags.texts('--corrects').map((path) => resolve(directory, path)),
    names: {
      provider,
      issuer: flags.parse('--issuer', nameOf) ?? provider,
      account: flags.parse('--account-name', nameOf) ?? null,
    },
  };
}

/** A flag that the parser requires. */
function parsed<Value>(flags: Flags, flag: `--${string}`, parser: (text: string) => Value): Value {
  const value = flags.parse(flag, parser);
  if (value === undefined) throw new UsageError(`${flag} is missing`, { hint: `add ${flag}` });
  return value;
}

function pathOf(text: string, directory: string): string {
  formatOf(text);
  return resolve(directory, text);
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= NAME_CHARACTERS_MAX && !/\p{Cc}/u.test(name)) return name;
  throw new UsageError(`${JSON.stringify(text)} is not a name`, {
    hint: `write a name of ${NAME_CHARACTERS_MAX} characters at most on one line`,
  });
}

/** Draws what a FOCUS file holds, and how it compares with the metric. */
function renderFocus(report: FocusReport, frame: TableFrame): string[] {
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
