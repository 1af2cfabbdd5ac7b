import { type ReplayResult, replay } from '../../../../jobs/replay.ts';
import { EXIT } from '../../../core/exit-code.ts';
import { parseStreams, STREAMS } from '../../../core/stream.ts';
import { parseInstant } from '../../../settings/parsers/instant.ts';
import { readDayRange } from '../../arguments/day-range.ts';
import type { Action } from '../../program/command.ts';
import { counted } from '../../text/quantity.ts';
import { renderTable, right, type TableFrame } from '../../text/table.ts';

/** Units that are named at most. */
const NAMES_MAX = 5;

export const act: Action = async ({ settings, job, flags, log, out }) => {
  const result = await replay(
    settings,
    {
      ...readDayRange(flags, { clock: job.clock, log }),
      streams: flags.parse('--streams', parseStreams) ?? STREAMS,
      asOf: flags.parse('--as-of', parseInstant),
      wait: flags.isOn('--wait'),
    },
    job,
  );
  out.show(jsonOf(result), (frame) => renderReplay(result, frame), { afterLog: true });
  return result.exitCode;
};

function jsonOf({ exitCode, from, until, asOf, organizations }: ReplayResult) {
  return {
    exit_code: exitCode,
    from,
    until,
    as_of: asOf,
    requests: 0,
    organizations: organizations.map(({ orgId, stored, same, newer, rowsWritten }) => ({
      ...{ org_id: orgId, stored, same, newer, rows_written: rowsWritten },
    })),
  };
}

function renderReplay(
  { exitCode, from, until, asOf, organizations }: ReplayResult,
  frame: TableFrame,
): string[] {
  const what = asOf === null ? `${from} to ${until}` : `${from} to ${until} as of ${asOf}`;
  if (organizations.length === 0) return [`replay: the archive has no committed answer of ${what}`];
  const paint = exitCode === EXIT.ok ? frame.style.green : frame.style.yellow;
  const columns = ['organization', ...['stored', 'unchanged', 'newer', 'rows written'].map(right)];
  const rows = organizations.map(({ orgId, stored, same, newer, rowsWritten }) => [
    ...[orgId, stored, same, newer.length, rowsWritten],
  ]);
  return [
    paint(`replay: ${what}, without a request`),
    '',
    ...renderTable(columns, rows, frame),
    ...organizations.flatMap(({ newer }) => newerLines(newer)),
  ];
}

function newerLines(newer: readonly string[]): string[] {
  if (newer.length === 0) return [];
  const names = newer.slice(0, NAMES_MAX).join(', ');
  const more = newer.length > NAMES_MAX ? ` and ${counted(newer.length - NAMES_MAX, 'more unit')}` : '';
  return [
    '',
    `stayed as they are, because the warehouse has pulled them later than the archive: ${names}${more}`,
  ];
}
