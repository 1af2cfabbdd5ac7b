import { resolve } from 'node:path';
import {
  type ExportForecast,
  expectStart,
  forecastExport,
  forecastRound,
  type NamedForecast,
} from '../../../jobs/dry-run.ts';
import {
  commonFailure,
  type OrganizationOutcome,
  type RoundListener,
  type RoundReport,
} from '../../../jobs/round.ts';
import type { ExportRequest } from '../../../jobs/run.ts';
import { systemRandom } from '../../core/clock.ts';
import { adviceOf, messageOf, UsageError } from '../../core/errors.ts';
import { describeExitCode, EXIT, type ExitCode } from '../../core/exit-code.ts';
import { STREAMS } from '../../core/stream.ts';
import type { RunProblem, RunReport } from '../../pipeline/index.ts';
import type { EmailPolicy } from '../../privacy/index.ts';
import {
  createMetrics,
  createServiceMetrics,
  notifyListeners,
  openMetricsFile,
  parseSchedule,
  performRound,
  refuseLongJitter,
  type ServiceView,
  serve,
  weeklyBrief,
} from '../../serve/index.ts';
import { SETTINGS } from '../../settings/index.ts';
import { limitHeapGrowth, stopCode } from '../process/stop-signals.ts';
import type { Action, CommandContext } from '../program/command.ts';
import { failureOf } from '../program/failure.ts';
import { readDayRange } from '../program/flag-values.ts';
import { withHints } from '../remedies.ts';
import { counted, formatDuration, formatNumber } from '../screens/numbers.ts';
import { renderRunSummary, type SummaryFrame } from '../screens/run-summary.ts';
import { renderProblems, renderSteps, type Step, section, warehouseNames } from '../screens/sections.ts';
import { type Cell, renderFields, renderTable, right, shrinking, type TableFrame } from '../screens/table.ts';
import { escapeForTerminal } from '../screens/text.ts';

export const runAction: Action = (context) =>
  performExport(context, { command: 'run', force: false, newestFirst: false });

export const backfillAction: Action = async (context) => {
  const { flags, settings } = context;
  const force = flags.isOn('--force');
  const newEmailSalt = flags.isOn('--new-email-salt');
  if (newEmailSalt) checkNewSalt(settings.emails, force);
  return performExport(context, {
    command: 'backfill',
    force,
    newestFirst: flags.isOn('--newest-first'),
    newEmailSalt,
  });
};

function checkNewSalt({ mode }: EmailPolicy, force: boolean): void {
  if (mode !== 'hash') {
    throw new UsageError('--new-email-salt: emails are not hashed', {
      hint: 'add --emails hash, or omit --new-email-salt',
    });
  }
  if (!force) {
    throw new UsageError('--new-email-salt: settled days would keep the hashes of the old salt', {
      hint: 'add --force, and choose --from and --until so that they include all days',
    });
  }
}

/** How run and backfill differ. */
type ExportMode = Pick<ExportRequest, 'command' | 'force' | 'newestFirst' | 'newEmailSalt'>;

/** Performs run or backfill: a forecast with `--dry-run`, else an export. */
async function performExport(context: CommandContext, mode: ExportMode): Promise<ExitCode> {
  const { flags, settings, job, log, out } = context;
  const request: ExportRequest = {
    ...mode,
    ...readDayRange(flags, { clock: job.clock, log }),
    streams: flags.like('--streams', SETTINGS.streams),
    acceptLoss: flags.isOn('--accept-loss'),
    acceptOrganization: flags.isOn('--accept-organization'),
    newOrganization: flags.text('--new-organization'),
    wait: flags.isOn('--wait'),
    organization: flags.text('--organization'),
  };
  if (flags.isOn('--dry-run')) return showForecast(context, request);
  const metricsFile = await metricsFileListeners(context);
  limitHeapGrowth();
  const round = await performRound(settings, request, job, [
    ...notifyListeners(settings, job),
    ...metricsFile,
  ]);
  if (settings.organizationsFile === null) return showRun(reportOf(round), context);
  const failure = commonFailure(round);
  if (failure !== null) throw failure.error;
  const warehouse = warehouseNames(context);
  out.show(roundDocument(round), (frame) => renderRound(round, { ...frame, warehouse }), { afterLog: true });
  return round.exitCode;
}

async function showForecast(
  { settings, job, out }: CommandContext,
  request: ExportRequest,
): Promise<ExitCode> {
  const organizations = await forecastRound(settings, request, job);
  if (settings.organizationsFile !== null) {
    out.show({ organizations }, (frame) => renderForecasts(organizations, frame));
  } else {
    const forecast = await forecastExport(settings, request, job);
    out.show(forecast, (frame) => renderForecast(forecast, frame));
  }
  // A person who may only read sees the forecast too.
  await expectStart(settings, request, job);
  return EXIT.ok;
}

const NOT_TRIED = 'The key and the service were not tried: daywalk check does that.';

function showRun(report: RunReport, context: CommandContext): ExitCode {
  const warehouse = warehouseNames(context);
  context.out.show(withHints(report), (frame) => renderRunSummary(report, { ...frame, warehouse }), {
    afterLog: true,
  });
  return report.exitCode;
}

function reportOf({ organizations: [outcome] }: RoundReport): RunReport {
  if (outcome?.report) return outcome.report;
  throw outcome?.error;
}

/**
 * The listener that writes the metrics at the end, if the command line names a file for them.
 * @throws {UsageError} if the file could not be written.
 */
async function metricsFileListeners(context: CommandContext): Promise<RoundListener[]> {
  const { flags, settings, directory, job } = context;
  const file = flags.text('--metrics-file');
  if (file === undefined) return [];
  return [await openMetricsFile({ path: resolve(directory, file), settings }, job)];
}

/** Draws what an export would do. */
export function renderForecast(forecast: ExportForecast, frame: TableFrame): string[] {
  const { style } = frame;
  const heading =
    forecast.units === 0
      ? 'Nothing to pull: every requested day is settled.'
      : 'This is what a run would do. Nothing was sent, nothing was written.';
  const rows = STREAMS.filter((stream) => (forecast.unitsByStream[stream] ?? 0) > 0).map((stream) => [
    stream,
    forecast.unitsByStream[stream] ?? 0,
  ]);
  const roughly = `about ${formatNumber(forecast.requests)}`;
  return [
    style.bold(heading),
    '',
    ...renderFields(
      [
        ['organization', forecast.orgId ?? 'unknown before the first run'],
        ['days', `${forecast.firstDay} to ${forecast.lastDay}`],
        ['units', forecast.units],
        ['requests', forecast.isEstimate ? `${roughly} (a rough estimate before the first run)` : roughly],
        ['time', durationText(forecast)],
      ],
      frame,
    ),
    ...(rows.length === 0
      ? []
      : [
          '',
          ...renderTable(['stream', right('units')], rows, {
            ...frame,
            indent: 2,
          }),
        ]),
    '',
    NOT_TRIED,
  ];
}

/** Draws what an export of each organization would do. */
function renderForecasts(organizations: readonly NamedForecast[], frame: TableFrame): string[] {
  const columns = [shrinking('organization'), shrinking('id'), right('units'), right('requests'), 'time'];
  const rows = organizations.map(({ name, forecast }) => [
    name,
    forecast.orgId ?? 'unknown before the first run',
    forecast.units,
    forecast.requests,
    durationText(forecast),
  ]);
  return [
    frame.style.bold('This is what a run would do. Nothing was sent, nothing was written.'),
    '',
    ...renderTable(columns, rows, { ...frame, indent: 2 }),
    '',
    NOT_TRIED,
  ];
}

function durationText({ durationMs, isDurationEstimate }: ExportForecast): string {
  if (durationMs === null) return 'unknown before the first run';
  const roughly = durationMs < 1_000 ? 'under a second' : `about ${formatDuration(durationMs)}`;
  return isDurationEstimate ? `${roughly} (a rough estimate: no run was this large)` : roughly;
}

/** Builds the JSON document of a round. */
function roundDocument(round: RoundReport): unknown {
  const organizations = round.organizations.map(({ name, orgId, exitCode, report, error }) => {
    const { message, hint } = failureOf(error);
    return {
      ...{ name, orgId, exitCode },
      report: report === null ? null : withHints(report),
      error: report === null ? { message, hint } : null,
    };
  });
  return { ...round, organizations };
}

/** Draws what a round did for each organization, the problems of each, and the next steps. */
function renderRound(round: RoundReport, frame: SummaryFrame): string[] {
  const columns = [
    shrinking('organization'),
    shrinking('id'),
    ...['exit', 'units', 'failed', 'left out', 'rows', 'requests'].map(right),
  ];
  const rows = round.organizations.map((outcome) => rowOf(outcome, frame));
  return [
    headline(round, frame),
    '',
    ...renderTable(columns, rows, { ...frame, indent: 2 }),
    ...round.organizations.flatMap((outcome) =>
      section(
        `Problems of ${escapeForTerminal(frame.redact(outcome.name ?? outcome.orgId ?? 'the organization'))}`,
        renderProblems(problemsOf(outcome), frame),
        frame,
      ),
    ),
    ...renderSteps('Next', nextOf(round, frame), frame),
  ];
}

function headline({ command, exitCode, organizations }: RoundReport, { style }: SummaryFrame): string {
  const all = counted(organizations.length, 'organization');
  if (exitCode === EXIT.ok) return style.green(`${command}: complete, ${all}`);
  const complete = organizations.filter((outcome) => outcome.exitCode === EXIT.ok).length;
  const text = `${command}: ${formatNumber(complete)} of ${all} complete; exit code ${exitCode}, ${describeExitCode(exitCode)}`;
  return paintOf(exitCode, style)(text);
}

function rowOf(
  { name, orgId, exitCode, report }: OrganizationOutcome,
  { style, redact }: SummaryFrame,
): Cell[] {
  const numbers =
    report === null
      ? [null, null, null, null, null]
      : [report.unitsDone, report.unitsFailed, report.unitsLeftOut, report.rowsWritten, report.requests];
  const paint = paintOf(exitCode, style);
  return [
    redact(name ?? ''),
    orgId === null ? null : redact(orgId),
    { content: exitCode, paint },
    ...numbers,
  ];
}

function paintOf(exitCode: ExitCode, style: SummaryFrame['style']) {
  if (exitCode === EXIT.ok) return style.green;
  return exitCode === EXIT.upstream || exitCode === EXIT.quarantine ? style.yellow : style.red;
}

function problemsOf({ report, error }: OrganizationOutcome): readonly RunProblem[] {
  return report === null ? [{ message: messageOf(error), ...adviceOf(error), units: 0 }] : report.problems;
}

function nextOf({ exitCode }: RoundReport, { warehouse: { flag } }: SummaryFrame): Step[] {
  const status: Step = [`daywalk status${flag}`, 'what the warehouse holds of each organization, day by day'];
  if (exitCode === EXIT.ok) return [status];
  const again: Step = [`daywalk run${flag} --organization NAME`, 'exports one organization again'];
  const config: Step = ['daywalk config', 'the organizations, their key files, and every problem with them'];
  return [config, again, status];
}

/** Prints the address when the service listens, then serves until a signal. */
export const serveAction: Action = async ({ job, out, log, settings, rereadSettings }) => {
  limitHeapGrowth();
  const { serveJitter: jitterMs, serveListen: listen } = settings;
  const schedule = parseSchedule(settings.serveSchedule);
  await refuseLongJitter(schedule, jitterMs);
  if (settings.now !== null) {
    log.write({
      level: 'warn',
      event: 'settings',
      message: `the clock stands still at ${settings.now.toISOString()}: no run follows the first one`,
      hint: 'unset DAYWALK_NOW for a schedule',
    });
  }
  let current = settings;
  const metrics = await createMetrics({ clock: job.clock, settings: () => current });
  const serviceText = await createServiceMetrics();
  const options = {
    schedule,
    jitterMs,
    listen,
    settings,
    readSettings: () => {
      current = rereadSettings();
      return current;
    },
    listeners: [...notifyListeners(settings, job), metrics.listener, ...(await weeklyBrief(settings, job))],
    metricsText: async ({ warehouse, state }: ServiceView) =>
      `${await metrics.text(warehouse)}\n${await serviceText(state)}`,
    seed: systemRandom(),
  };
  await serve(options, job, (url) => out.show({ url }, () => [url]));
  return stopCode(job.signal);
};
