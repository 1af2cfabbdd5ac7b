import { basename } from 'node:path';
import type { ReportResult } from '../../../../jobs/report.ts';
import { escapeForTerminal } from '../../text/escape.ts';
import { counted, formatBytes } from '../../text/quantity.ts';
import { renderTable, right, shrinking, type TableFrame } from '../../text/table.ts';

/** More names than this do not help. */
const NAMES_MAX = 10;

/** Draws what was written, and what was left out. */
export function renderReport(result: ReportResult, frame: TableFrame): string[] {
  const { reports, list, too_small: small = [], inactive = [], from, until } = result;
  const period = from === until ? from : `${from} to ${until}`;
  const [only] = reports;
  if (list === undefined) {
    if (only === undefined) return [];
    const { pages, rows, bytes } = only;
    return [
      `${escapeForTerminal(only.file)}: written, ${counted(pages, 'page')} with ${counted(rows, 'row')} in ${formatBytes(bytes)}, ${period}, for ${readersOf(result)}`,
    ];
  }
  const columns = [shrinking('team'), shrinking('file'), right('pages'), right('rows'), right('size')];
  const cells = reports.map(({ team, file, pages, rows, bytes }) => [
    team,
    basename(file),
    pages,
    rows,
    formatBytes(bytes),
  ]);
  return [
    ...(reports.length === 0 ? [] : renderTable(columns, cells, frame)),
    ...(small.length === 0 ? [] : [tooSmall(small, result.min_group ?? 0)]),
    ...(inactive.length === 0
      ? []
      : [`nobody was active in ${counted(inactive.length, 'team')}: ${namesOf(inactive)}`]),
    `${escapeForTerminal(list)}: written, ${counted(reports.length, 'report')}, ${period}, for ${readersOf(result)}`,
  ];
}

function tooSmall(teams: readonly string[], minGroup: number): string {
  const are = teams.length === 1 ? 'is' : 'are';
  return `${counted(teams.length, 'team')} of fewer than ${minGroup} active people in a part of the period, or next to such a team, ${are} not reported: ${namesOf(teams)}`;
}

function namesOf(teams: readonly string[]): string {
  const more = teams.length > NAMES_MAX ? `, and ${teams.length - NAMES_MAX} more` : '';
  return `${teams.slice(0, NAMES_MAX).map(escapeForTerminal).join(', ')}${more}`;
}

function readersOf({ audience }: ReportResult): string {
  return { managers: 'managers', team: 'a team', public: 'the public' }[audience];
}
