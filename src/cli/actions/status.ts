import { digestWarehouse, readHealth, readStatus } from '../../../jobs/status.ts';
import { RULES, RunError, UsageError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import { describeContract, type Hole, WHOLE } from '../../expected/index.ts';
import type { QuarantineCount } from '../../ledger/index.ts';
import type { Refusal } from '../../organizations/index.ts';
import type { RunRecord } from '../../records/index.ts';
import { SETTINGS } from '../../settings/index.ts';
import type {
  DoubtedUnit,
  MissingReport,
  OrganizationStatus,
  UnconfirmedDays,
  WarehouseStatus,
} from '../../status/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Action, CommandContext } from '../program/command.ts';
import { hintOf } from '../remedies.ts';
import { counted, formatAge, formatDuration } from '../screens/numbers.ts';
import { section } from '../screens/sections.ts';
import {
  type Cell,
  type Field,
  renderFields,
  renderListing,
  renderMore,
  renderTable,
  right,
  shrinking,
} from '../screens/table.ts';
import { escapeForTerminal, wrapText } from '../screens/text.ts';
import {
  endOfOpen,
  renderCalendar,
  renderOpen,
  renderSchemaDrift,
  renderStreams,
  spanText,
} from './status-tables.ts';

const HOUR_MS = 3_600_000;

export const statusAction: Action = async (context) => {
  const { settings, job, flags, out } = context;
  const age = flags.like('--max-age', SETTINGS.maxAgeMs);
  const hours = age === undefined ? undefined : age / HOUR_MS;
  if (flags.isOn('--health') && flags.text('--organization') !== undefined) {
    throw new UsageError('--health is about every organization', { hint: 'omit --organization' });
  }
  if (flags.isOn('--health')) return checkHealth(context, hours);
  const status = await readStatus(settings, job, flags.text('--organization'));
  out.show(withEnds(status), (frame) => renderStatus(status, frame));
  const stale = hours === undefined ? null : describeStaleness(status, hours);
  if (stale === null) return EXIT.ok;
  throw new RunError(stale, { hint: 'see the last runs above; daywalk run brings the warehouse up to date' });
};

/** The status with what ends each refusal and everything that is open. */
function withEnds(status: WarehouseStatus) {
  return {
    ...status,
    organizations: status.organizations.map((organization) => ({
      ...organization,
      open: organization.open.map((open) => ({ ...open, ends: endOfOpen(open) })),
    })),
    refusals: status.refusals.map((refusal) => ({ ...refusal, ends: endOf(refusal) })),
  };
}

function endOf({ orgId, rule, expected }: Refusal): string {
  const facts = { orgId, ...(expected !== null && { expected }) };
  const answer =
    rule === 'foreign-users' ? 'its stored users are in the responses again' : 'its key answers as before';
  return `ends when ${answer}, or: ${hintOf({ hint: undefined, reason: rule, facts })}`;
}

async function checkHealth(
  { settings, job, flags, out }: CommandContext,
  hours: number | undefined,
): Promise<ExitCode> {
  const health = await readHealth(settings, job, hours);
  const { healthy, reason } = health;
  if (flags.isOn('--json')) out.line(health);
  else
    out.show(health, ({ redact }) => [
      escapeForTerminal(redact(`${healthy ? 'healthy' : 'unhealthy'}: ${reason}`)),
    ]);
  return healthy ? EXIT.ok : EXIT.unhealthy;
}

const RUNS_SHOWN_MAX = 5;
const HOLES_SHOWN_MAX = 12;
const ERRORS_SHOWN_MAX = 5;
const ERROR_LINES_MAX = 3;
const QUARANTINE_SHOWN_MAX = 8;

/** Draws what a warehouse holds and lacks, with a calendar on a terminal. */
export function renderStatus(status: WarehouseStatus, frame: ScreenFrame): string[] {
  const organizations = status.organizations.flatMap((organization) => [
    '',
    ...renderOrganization(organization, frame),
  ]);
  return [
    ...renderFields(overview(status, frame), { ...frame, indent: 0 }),
    ...organizations,
    ...section('Quarantine', renderQuarantine(status.quarantine, frame), frame),
    ...section('Last runs', renderRuns(status.runs, frame), frame),
  ];
}

function overview(status: WarehouseStatus, { style }: ScreenFrame): Field[] {
  const { lastCompleteRunAgeMs: ageMs, organizations, neverExported, pendingErasures } = status;
  const freshness = ageMs === null ? 'never' : `${formatAge(ageMs)}, ${status.lastCompleteRunAt ?? ''}`;
  return [
    ['warehouse', status.warehouse],
    [
      'days',
      status.firstDay > status.lastDay
        ? `none is expected before ${status.firstDay}`
        : `${status.firstDay} to ${status.lastDay} (yesterday, UTC)`,
    ],
    ['last complete run', freshness, ageMs === null ? style.yellow : style.green],
    ...(status.waiting === null ? [] : [['run', waitText(status.waiting), style.yellow] as const]),
    ['restatements', status.restatements],
    ...(neverExported.length === 0
      ? []
      : [['never exported', neverExported.join(', '), style.yellow] as const]),
    ...pendingErasures.map(
      ({ beganAt }): Field => [
        'erasure',
        `began at ${beganAt} and is not complete: repeat daywalk erase, unless it runs now`,
        style.yellow,
      ],
    ),
    ...status.archives.map(
      ({ id, place, lastMetAt, endedAt }): Field => [
        'archive',
        `${id} at ${place}, last written at ${lastMetAt}${endedAt === null ? '' : `; not expected since ${endedAt}`}`,
      ],
    ),
    ...status.refusals.map(
      (refusal): Field => [
        'refused',
        `${refusal.orgId} since ${refusal.since.slice(0, 'YYYY-MM-DD'.length)}: ${RULES[refusal.rule]}; ${endOf(refusal)}`,
        style.yellow,
      ],
    ),
    ...(organizations.length === 0
      ? [['organizations', 'none: no run has stored anything yet'] as const]
      : []),
  ];
}

function waitText({ host, since, until, workers }: NonNullable<WarehouseStatus['waiting']>): string {
  const waiting = workers === 1 ? 'waiting' : `${workers} workers wait`;
  return `${waiting} for the service since ${since}, until ${until} at most: ${host} does not answer`;
}

function renderOrganization(organization: OrganizationStatus, frame: ScreenFrame): string[] {
  const { style } = frame;
  const { name, orgId, days, oldestUnsettledDay, neverConfirmed, staleRollupDays, contract } = organization;
  const who = name === null ? orgId : `${name} (${orgId})`;
  const calendar = frame.isTerminal ? renderCalendar(days, { width: frame.width, style }) : null;
  const all = `every day is settled${neverConfirmed.length === 0 ? '' : ' or was never confirmed'}`;
  const settled = oldestUnsettledDay === null ? all : `oldest unsettled day ${oldestUnsettledDay}`;
  return [
    ...renderFields([['organization', `${who}, ${settled}`, style.bold]], { ...frame, indent: 0 }),
    ...(describeContract(contract) === describeContract(WHOLE)
      ? []
      : renderFields([['expected', describeContract(contract)]], { ...frame, indent: 0 })),
    ...(staleRollupDays === 0
      ? []
      : renderFields([['rollups', staleText(staleRollupDays), style.yellow]], { ...frame, indent: 0 })),
    ...(calendar === null ? [] : ['', ...calendar]),
    '',
    ...renderStreams(organization, frame),
    ...section('Open', renderOpen(organization.open, frame), frame),
    ...section('Holes', renderHoles(organization.holes, frame), frame),
    ...section(
      'Doubted: stored rows that the service no longer returns',
      renderDoubted(organization.doubted, frame),
      frame,
    ),
    ...section(
      'Missing reports: stored, and lacking in the newest list',
      renderMissing(organization.missingReports, frame),
      frame,
    ),
    ...section('Never confirmed', renderUnconfirmed(organization.neverConfirmed, frame), frame),
    ...section('Schema drift', renderSchemaDrift(organization.schemaDrift, frame), frame),
    ...section('Why units failed', renderErrors(organization, frame), frame),
  ];
}

function staleText(days: number): string {
  return `lack ${counted(days, 'stored day')}: a run adds them when it ends. Until then, metrics take longer, and views may lag`;
}

function renderHoles(holes: readonly Hole[], frame: ScreenFrame): string[] {
  const columns = ['state', 'days', right('count'), shrinking('streams')];
  const row = ({ state, firstDay, lastDay, days, streams }: Hole) => [
    state,
    spanText(firstDay, lastDay),
    days,
    streams.length === DAILY_STREAMS.length ? 'all daily streams' : streams.join(', '),
  ];
  return renderListing({ columns, items: holes, row, shownMax: HOLES_SHOWN_MAX }, frame);
}

function renderDoubted(doubted: readonly DoubtedUnit[], frame: ScreenFrame): string[] {
  const columns = ['unit', right('missing'), right('of'), 'since', shrinking('rule')];
  const row = ({ stream, day, rule, rows, of, since }: DoubtedUnit) => [
    `${stream} ${day}`.trimEnd(),
    rows,
    of,
    since.slice(0, 'YYYY-MM-DD'.length),
    RULES[rule],
  ];
  return renderListing({ columns, items: doubted, row, shownMax: HOLES_SHOWN_MAX }, frame);
}

function renderMissing(missing: readonly MissingReport[], frame: ScreenFrame): string[] {
  const columns = ['missing since', shrinking('report')];
  const row = ({ reportId, since }: MissingReport) => [
    since.slice(0, 'YYYY-MM-DD'.length),
    frame.redact(reportId),
  ];
  return renderListing({ columns, items: missing, row, shownMax: HOLES_SHOWN_MAX }, frame);
}

function renderUnconfirmed(unconfirmed: readonly UnconfirmedDays[], frame: ScreenFrame): string[] {
  const columns = ['stream', 'days', right('count'), shrinking('rule')];
  const row = ({ rule, firstDay, lastDay, days, streams, identities }: UnconfirmedDays) => [
    streams.join(', '),
    spanText(firstDay, lastDay),
    days,
    identities === undefined ? RULES[rule] : `${RULES[rule]}: not ${identities.join(', ')}`,
  ];
  return renderListing({ columns, items: unconfirmed, row, shownMax: HOLES_SHOWN_MAX }, frame);
}

function renderErrors({ lastErrors }: OrganizationStatus, frame: ScreenFrame): string[] {
  const { width, redact } = frame;
  const lines = lastErrors
    .slice(0, ERRORS_SHOWN_MAX)
    .flatMap(({ stream, day, error }) => [
      `${stream} ${day}`.trimEnd(),
      ...wrapText(escapeForTerminal(redact(error)), { width, lead: '  ', linesMax: ERROR_LINES_MAX }),
    ]);
  return [...lines, ...renderMore(lastErrors.length - ERRORS_SHOWN_MAX, frame)];
}

function renderQuarantine(counts: readonly QuarantineCount[], frame: ScreenFrame): string[] {
  const columns = ['stream', right('records'), right('accepted'), shrinking('reason')];
  const row = ({ stream, reason, records, accepted }: QuarantineCount) => [
    stream,
    records,
    accepted,
    frame.redact(reason),
  ];
  return renderListing({ columns, items: counts, row, shownMax: QUARANTINE_SHOWN_MAX }, frame);
}

function renderRuns(runs: readonly RunRecord[], frame: ScreenFrame): string[] {
  const numbers = ['duration', 'exit', 'units', 'failed', 'rows', 'requests'].map(right);
  const columns = ['started', 'command', ...numbers];
  const row = (run: RunRecord) => runRow(run, frame);
  return renderListing(
    { columns, items: runs.slice(0, RUNS_SHOWN_MAX), row, shownMax: RUNS_SHOWN_MAX },
    frame,
  );
}

function runRow(run: RunRecord, { style }: ScreenFrame): Cell[] {
  const { startedAt, endedAt, exitCode } = run;
  const paint = exitCode === EXIT.ok ? style.green : style.red;
  return [
    startedAt.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' '),
    run.command,
    endedAt === null ? 'not ended' : formatDuration(Date.parse(endedAt) - Date.parse(startedAt)),
    exitCode === null ? null : { content: String(exitCode), paint },
    run.unitsDone,
    run.unitsFailed,
    run.rowsWritten,
    run.requests,
  ];
}

/** Says why a warehouse is too old; null when it is not. */
function describeStaleness(
  { lastCompleteRunAgeMs: ageMs }: WarehouseStatus,
  hoursMax: number,
): string | null {
  if (ageMs === null) return 'no complete run is on record';
  if (ageMs <= hoursMax * HOUR_MS) return null;
  return `the last complete run ended ${formatAge(ageMs)}, more than ${counted(hoursMax, 'hour')}`;
}

const COLUMNS = ['table', shrinking('sha-256')];

export const digestAction: Action = async ({ settings, job, out }) => {
  const digest = await digestWarehouse(settings, job);
  out.show(digest, (frame) => {
    const total = [{ content: 'warehouse', paint: frame.style.bold }, digest.warehouse];
    return renderTable(COLUMNS, [...Object.entries(digest.tables), total], frame);
  });
  return EXIT.ok;
};
