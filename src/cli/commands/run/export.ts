import { forecastExport } from '../../../../jobs/dry-run.ts';
import { type ExportRequest, runExport } from '../../../../jobs/run.ts';
import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { parseStreams, STREAMS } from '../../../core/stream.ts';
import { readDayRange } from '../../arguments/day-range.ts';
import { keepHeapModest } from '../../process/heap-growth.ts';
import type { CommandContext } from '../../program/command.ts';
import { renderRunSummary } from '../../screens/run-summary.ts';
import { warehouseNames } from '../../screens/warehouse-names.ts';
import { renderForecast } from './forecast-screen.ts';

/** What tells the commands that export apart. */
export type ExportMode = Pick<ExportRequest, 'command' | 'force' | 'newestFirst' | 'newEmailSalt'>;

/** Reads the flags that these commands share, then forecasts or exports, and prints what came of it. */
export async function performExport(context: CommandContext, mode: ExportMode): Promise<ExitCode> {
  const { flags, settings, job, log, out } = context;
  const request: ExportRequest = {
    ...mode,
    ...readDayRange(flags, { clock: job.clock, log }),
    streams: flags.parse('--streams', parseStreams) ?? STREAMS,
    acceptLoss: flags.isOn('--accept-loss'),
    wait: flags.isOn('--wait'),
  };
  const frame = { width: out.terminal.columns(), style: out.terminal.style };

  if (flags.isOn('--dry-run')) {
    const forecast = await forecastExport(settings, request, job);
    if (flags.isOn('--json')) out.json(forecast);
    else out.print(renderForecast(forecast, frame));
    return EXIT.ok;
  }

  keepHeapModest();
  const report = await runExport(settings, request, job);
  if (flags.isOn('--json')) out.json(report);
  else
    out.present(
      renderRunSummary(report, { ...frame, redact: out.redact, warehouse: warehouseNames(context) }),
    );
  return report.exitCode;
}
