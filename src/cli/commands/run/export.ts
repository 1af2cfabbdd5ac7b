import { forecastExport, forecastRound } from '../../../../jobs/dry-run.ts';
import type { ExportRequest } from '../../../../jobs/run.ts';
import { commonFailure, type RoundReport } from '../../../../jobs/run-round.ts';
import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { parseStreams, STREAMS } from '../../../core/stream.ts';
import type { RunReport } from '../../../pipeline/events.ts';
import { notifyListeners } from '../../../serve/notify/notify.ts';
import { performRound } from '../../../serve/perform-round.ts';
import { readDayRange } from '../../arguments/day-range.ts';
import { limitHeapGrowth } from '../../process/heap-growth.ts';
import type { CommandContext } from '../../program/command.ts';
import { withHints } from '../../remedies.ts';
import { renderRunSummary } from '../../screens/run-summary.ts';
import { warehouseNames } from '../../screens/warehouse-names.ts';
import { renderForecast, renderForecasts } from './forecast-screen.ts';
import { metricsFileListeners } from './metrics-file.ts';
import { renderRound, roundDocument } from './round-screen.ts';

/** How run and backfill differ. */
export type ExportMode = Pick<ExportRequest, 'command' | 'force' | 'newestFirst' | 'newEmailSalt'>;

/** Performs run or backfill: a forecast with `--dry-run`, else an export. */
export async function performExport(context: CommandContext, mode: ExportMode): Promise<ExitCode> {
  const { flags, settings, job, log, out } = context;
  const request: ExportRequest = {
    ...mode,
    ...readDayRange(flags, { clock: job.clock, log }),
    streams: flags.parse('--streams', parseStreams) ?? STREAMS,
    acceptLoss: flags.isOn('--accept-loss'),
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
  if (settings.organizationsFile === undefined) return showRun(reportOf(round), context);
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
  if (settings.organizationsFile !== undefined) {
    out.show({ organizations }, (frame) => renderForecasts(organizations, frame));
    return EXIT.ok;
  }
  const forecast = await forecastExport(settings, request, job);
  out.show(forecast, (frame) => renderForecast(forecast, frame));
  return EXIT.ok;
}

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
