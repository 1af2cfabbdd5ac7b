import type { ExportForecast, NamedForecast } from '../../../../jobs/dry-run.ts';
import { STREAMS } from '../../../core/stream.ts';
import { renderFields } from '../../screens/fields.ts';
import { formatDuration, formatNumber } from '../../text/quantity.ts';
import { renderTable, right, shrinking, type TableFrame } from '../../text/table.ts';

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
  ];
}

/** Draws what an export of each organization would do. */
export function renderForecasts(organizations: readonly NamedForecast[], frame: TableFrame): string[] {
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
  ];
}

function durationText({ durationMs, isDurationEstimate }: ExportForecast): string {
  if (durationMs === null) return 'unknown before the first run';
  const roughly = durationMs < 1_000 ? 'under a second' : `about ${formatDuration(durationMs)}`;
  return isDurationEstimate ? `${roughly} (a rough estimate: no run was this large)` : roughly;
}
