import { EXIT } from '../../../core/exit-code.ts';
import { RULES } from '../../../core/rules.ts';
import type { Hole } from '../../../status/gaps.ts';
import type { OrganizationStatus } from '../../../status/organization.ts';
import type { WarehouseStatus } from '../../../status/status.ts';
import type { QuarantineCount, RunRecord } from '../../../warehouse/port.ts';
import type { ScreenFrame } from '../../output/output.ts';
import { type Field, renderFields } from '../../screens/fields.ts';
import { escapeForTerminal } from '../../text/escape.ts';
import { counted, formatAge, formatDuration, formatNumber } from '../../text/quantity.ts';
import { type Cell, renderTable, type TableColumn, type TableFrame } from '../../text/table.ts';
import { wrapText } from '../../text/wrap.ts';
import { renderCalendar } from './calendar.ts';
import { renderSchemaDrift } from './schema-drift.ts';
import { streamsTable } from './streams-table.ts';

const RUNS_SHOWN_MAX = 5;
const HOLES_SHOWN_MAX = 12;
const ERRORS_SHOWN_MAX = 5;
const ERROR_LINES_MAX = 3;
const QUARANTINE_SHOWN_MAX = 8;

const right = (header: string): TableColumn => ({ header, align: 'right' });

/** Draws what a warehouse holds and lacks, with a calendar on a terminal. */
export function renderStatus(status: WarehouseStatus, frame: ScreenFrame): string[] {
  const organizations = status.organizations.flatMap((organization) => [
    '',
    ...renderOrganization(organization, frame),
  ]);
  return [
    ...renderFields(overview(status, frame), { ...frame, indent: 0 }),
    ...organizations,
    ...section('Quarantine', quarantineTable(status.quarantine, frame), frame),
    ...section('Last runs', runsTable(status, frame), frame),
  ];
}

function overview(status: WarehouseStatus, { style }: ScreenFrame): Field[] {
  const { lastCompleteRunAgeMs: ageMs, organizations } = status;
  const freshness = ageMs === null ? 'never' : `${formatAge(ageMs)}, ${status.lastCompleteRunAt ?? ''}`;
  return [
    ['warehouse', status.warehouse],
    ['days', `${status.firstDay} to ${status.lastDay} (yesterday, UTC)`],
    ['last complete run', freshness, ageMs === null ? style.yellow : style.green],
    ['restatements', status.restatements],
    ...(organizations.length === 0
      ? [['organizations', 'none: no run has stored anything yet'] as const]
      : []),
  ];
}

function renderOrganization(organization: OrganizationStatus, frame: ScreenFrame): string[] {
  const { style } = frame;
  const { orgId, days, oldestUnsettledDay } = organization;
  const calendar = frame.isTerminal ? renderCalendar(days, { width: frame.width, style }) : null;
  const settled =
    oldestUnsettledDay === null ? 'every day is settled' : `oldest unsettled day ${oldestUnsettledDay}`;
  return [
    ...renderFields([['organization', `${orgId}, ${settled}`, style.bold]], { ...frame, indent: 0 }),
    ...(calendar === null ? [] : ['', ...calendar]),
    '',
    ...streamsTable(organization, frame),
    ...section('Holes', holesTable(organization.holes, frame), frame),
    ...section(
      'Doubted: stored rows that the service no longer returns',
      doubtedTable(organization, frame),
      frame,
    ),
    ...section('Never confirmed', unconfirmedTable(organization, frame), frame),
    ...section('Schema drift', renderSchemaDrift(organization.schemaDrift, frame), frame),
    ...section('Why units failed', errorsOf(organization, frame), frame),
  ];
}

function holesTable(holes: readonly Hole[], frame: ScreenFrame): string[] {
  const rows = holes
    .slice(0, HOLES_SHOWN_MAX)
    .map(({ state, firstDay, lastDay, days, streams }): Cell[] => [
      state,
      firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`,
      days,
      streams.length === 5 ? 'all daily streams' : streams.join(', '),
    ]);
  const columns = [
    { header: 'state' },
    { header: 'days' },
    right('count'),
    { header: 'streams', shrinks: true },
  ];
  return [...tableOrNothing(columns, rows, frame), ...more(holes.length - HOLES_SHOWN_MAX, frame)];
}

function doubtedTable({ doubted }: OrganizationStatus, frame: ScreenFrame): string[] {
  const rows = doubted
    .slice(0, HOLES_SHOWN_MAX)
    .map(({ stream, day, rule, rows: missing, of, since }): Cell[] => [
      `${stream} ${day}`.trimEnd(),
      missing,
      of,
      since.slice(0, 10),
      RULES[rule],
    ]);
  const columns = [
    { header: 'unit' },
    right('missing'),
    right('of'),
    { header: 'since' },
    { header: 'rule', shrinks: true },
  ];
  const hint =
    doubted.length === 0 ? [] : [frame.style.dim('if they are gone for good: daywalk run --accept-loss')];
  return [...tableOrNothing(columns, rows, frame), ...more(doubted.length - HOLES_SHOWN_MAX, frame), ...hint];
}

function unconfirmedTable({ neverConfirmed }: OrganizationStatus, frame: ScreenFrame): string[] {
  const rows = neverConfirmed
    .slice(0, HOLES_SHOWN_MAX)
    .map(({ rule, firstDay, lastDay, days, streams }): Cell[] => [
      streams.join(', '),
      firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`,
      days,
      RULES[rule],
    ]);
  const columns = [
    { header: 'stream' },
    { header: 'days' },
    right('count'),
    { header: 'rule', shrinks: true },
  ];
  return [...tableOrNothing(columns, rows, frame), ...more(neverConfirmed.length - HOLES_SHOWN_MAX, frame)];
}

function errorsOf({ lastErrors }: OrganizationStatus, { width, style, redact }: ScreenFrame): string[] {
  const lines = lastErrors
    .slice(0, ERRORS_SHOWN_MAX)
    .flatMap(({ stream, day, error }) => [
      `${stream} ${day}`.trimEnd(),
      ...wrapText(escapeForTerminal(redact(error)), { width, lead: '  ', linesMax: ERROR_LINES_MAX }),
    ]);
  return [...lines, ...more(lastErrors.length - ERRORS_SHOWN_MAX, { width, style })];
}

function quarantineTable(counts: readonly QuarantineCount[], frame: ScreenFrame): string[] {
  const rows = counts
    .slice(0, QUARANTINE_SHOWN_MAX)
    .map(({ stream, reason, records, accepted }): Cell[] => [
      stream,
      records,
      accepted,
      frame.redact(reason),
    ]);
  const columns = [
    { header: 'stream' },
    right('records'),
    right('accepted'),
    { header: 'reason', shrinks: true },
  ];
  return [...tableOrNothing(columns, rows, frame), ...more(counts.length - QUARANTINE_SHOWN_MAX, frame)];
}

function runsTable({ runs }: WarehouseStatus, frame: ScreenFrame): string[] {
  const columns = [
    { header: 'started' },
    { header: 'command' },
    right('duration'),
    right('exit'),
    right('units'),
    right('failed'),
    right('rows'),
    right('requests'),
  ];
  return tableOrNothing(
    columns,
    runs.slice(0, RUNS_SHOWN_MAX).map((run) => runRow(run, frame)),
    frame,
  );
}

function runRow(run: RunRecord, { style }: ScreenFrame): Cell[] {
  const { startedAt, endedAt, exitCode } = run;
  const duration =
    endedAt === null ? 'not ended' : formatDuration(Date.parse(endedAt) - Date.parse(startedAt));
  const exit: Cell =
    exitCode === null
      ? null
      : { content: String(exitCode), paint: exitCode === EXIT.ok ? style.green : style.red };
  return [
    startedAt.slice(0, 16).replace('T', ' '),
    run.command,
    duration,
    exit,
    run.unitsDone,
    run.unitsFailed,
    run.rowsWritten,
    run.requests,
  ];
}

function tableOrNothing(
  columns: readonly TableColumn[],
  rows: readonly Cell[][],
  frame: TableFrame,
): string[] {
  return rows.length === 0 ? [] : renderTable(columns, rows, frame);
}

function more(hidden: number, { style }: TableFrame): string[] {
  return hidden > 0 ? [style.dim(`and ${formatNumber(hidden)} more; --json lists them all`)] : [];
}

function section(title: string, lines: readonly string[], { style }: TableFrame): string[] {
  return lines.length === 0 ? [] : ['', style.bold(title), ...lines];
}

/** Says why a warehouse is too old; null when it is not. */
export function describeStaleness(
  { lastCompleteRunAgeMs: ageMs }: WarehouseStatus,
  hoursMax: number,
): string | null {
  if (ageMs === null) return 'no complete run is on record';
  if (ageMs <= hoursMax * 3_600_000) return null;
  return `the last complete run ended ${formatAge(ageMs)}, more than ${counted(hoursMax, 'hour')}`;
}
