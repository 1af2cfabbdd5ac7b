import { forecastExport } from '../../../../jobs/dry-run.ts';
import { type ExportRequest, runExport } from '../../../../jobs/run.ts';
import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { parseStreams, STREAMS } from '../../../core/stream.ts';
import { readDayRange } from '../../arguments/day-range.ts';
import { limitHeapGrowth } from '../../process/heap-growth.ts';
import type { CommandContext } from '../../program/command.ts';
import { withHints } from '../../remedies.ts';
import { renderRunSummary } from '../../screens/run-summary.ts';
import { warehouseNames } from '../../screens/warehouse-names.ts';
import { renderForecast } from './forecast-screen.ts';

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
  };
  if (flags.isOn('--dry-run')) {
    const forecast = await forecastExport(settings, request, job);
    out.show(forecast, (frame) => renderForecast(forecast, frame));
    return EXIT.ok;
  }
  limitHeapGrowth();
  const report = await runExport(settings, request, job);
  const warehouse = warehouseNames(context);
  out.show(withHints(report), (frame) => renderRunSummary(report, { ...frame, warehouse }), {
    afterLog: true,
  });
  return report.exitCode;
}
