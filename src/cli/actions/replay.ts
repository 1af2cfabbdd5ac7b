import { type ReplayResult, replay } from '../../../jobs/replay.ts';
import { EXIT } from '../../core/exit-code.ts';
import { STREAMS } from '../../core/stream.ts';
import { parseInstant, SETTINGS } from '../../settings/index.ts';
import type { Action } from '../program/command.ts';
import { readDayRange } from '../program/flag-values.ts';
import { counted } from '../screens/numbers.ts';
import { renderTable, right, type TableFrame } from '../screens/table.ts';

/** Units that are named at most. */
const UNITS_NAMED_MAX = 5;

export const replayAction: Action = async ({ settings, job, flags, log, out }) => {
  const result = await replay(
    settings,
    {
      ...readDayRange(flags, { clock: job.clock, log }),
      streams: flags.like('--streams', SETTINGS.streams) ?? STREAMS,
      asOf: flags.parse('--as-of', parseInstant),
      wait: flags.isOn('--wait'),
    },
    job,
  );
  out.show(replayJson(result), (frame) => renderReplay(result, frame), { afterLog: true });
  return result.exitCode;
};

function replayJson({ exitCode, from, until, asOf, organizations, lost }: ReplayResult) {
  return {
    exit_code: exitCode,
    from,
    until,
    as_of: asOf,
    requests: 0,
    lost,
    organizations: organizations.map(({ orgId, rowsWritten, exitCode: _code, ...units }) => ({
      ...{ org_id: orgId, ...units, rows_written: rowsWritten },
    })),
  };
}

function renderReplay(
  { exitCode, from, until, asOf, organizations, lost }: ReplayResult,
  frame: TableFrame,
): string[] {
  const what = asOf === null ? `${from} to ${until}` : `${from} to ${until} as of ${asOf}`;
  const damaged = [...lost, ...organizations.flatMap((own) => own.damaged)];
  const unreadable = named('left out, because the archive is damaged', damaged, 'archive verify');
  if (organizations.length === 0)
    return [`replay: the archive has no committed answer of ${what}`, ...unreadable];
  const paint = exitCode === EXIT.ok ? frame.style.green : frame.style.yellow;
  const columns = ['organization', ...['stored', 'unchanged', 'newer', 'rows written'].map(right)];
  const rows = organizations.map(({ orgId, stored, same, newer, rowsWritten }) => [
    ...[orgId, stored, same, newer.length, rowsWritten],
  ]);
  return [
    paint(`replay: ${what}, without a request`),
    '',
    ...renderTable(columns, rows, frame),
    ...organizations.flatMap(({ newer, quarantined }) => [
      ...named('stayed as they are, because the warehouse has pulled them later than the archive', newer),
      ...named('have records in quarantine', quarantined, 'quarantine list'),
    ]),
    ...unreadable,
  ];
}

function named(what: string, units: readonly string[], command?: string): string[] {
  if (units.length === 0) return [];
  return [
    '',
    `${what}: ${fewOf(units)}${command === undefined ? '' : `; daywalk ${command} names all of them`}`,
  ];
}

function fewOf(units: readonly string[]): string {
  const names = units.slice(0, UNITS_NAMED_MAX).join(', ');
  const others = units.length - UNITS_NAMED_MAX;
  return others > 0 ? `${names} and ${counted(others, 'more unit')}` : names;
}
