import { type SQL, sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import { describeExitCode, isExitCode } from '../../core/exit-meaning.ts';
import { STREAMS } from '../../core/stream.ts';
import type { PageReader } from '../data/reader.ts';
import type { Cell, Figure } from '../page/page.ts';
import {
  factColumn,
  factOf,
  instantColumn,
  type ListedColumn,
  listing,
  textCell,
  textColumn,
} from './listing.ts';

const RUNS_LISTED_MAX = 30;

/** The latest runs of the organization, and those that ended before they knew their organization. */
export function latestRuns(reader: PageReader, until: UtcDay): Promise<Figure> {
  const { orgId } = reader.filters;
  return listing(reader, {
    id: 'runs',
    title: 'Runs',
    subtitle: 'Newest first',
    query: sql`
  SELECT started_at, command, ${secondsOf(reader)} AS seconds, exit_code, units_done, units_failed, rows_written,
    requests, retries, run_id, ended_at
  FROM export_runs WHERE org_id = ${orgId} OR org_id IS NULL`,
    order: sql`started_at DESC, run_id`,
    columns: [
      instantColumn('started_at', { title: 'Started' }),
      textColumn('command', { title: 'Command' }),
      factColumn('seconds', 'Seconds', { why: 'the run has not ended, or was killed' }),
      EXIT_CODE,
      MEANING,
      factColumn('units_done', 'Units'),
      factColumn('units_failed', 'Failed'),
      factColumn('rows_written', 'Rows'),
      factColumn('requests', 'Requests'),
      factColumn('retries', 'Retries'),
    ],
    most: RUNS_LISTED_MAX,
    empty: 'No run is recorded: `daywalk run`',
    streams: STREAMS,
    until,
  });
}

const EXIT_CODE: ListedColumn = {
  title: 'Exit code',
  align: 'end',
  cell: (result, row) => factOf(result, row, 'exit_code', { why: 'the run has not ended, or was killed' }),
};

const MEANING: ListedColumn = {
  title: 'Meaning',
  cell: ({ rows }, row) => meaningOf(rows[row]?.['exit_code']),
};

function meaningOf(code: unknown): Cell {
  if (code === null) return textCell('in progress, or killed');
  return textCell(isExitCode(code) ? describeExitCode(code) : null);
}

function secondsOf({ warehouse }: PageReader): SQL {
  return warehouse.dialect === 'sqlite'
    ? sql`(julianday(ended_at) - julianday(started_at)) * 86400`
    : sql`CAST(EXTRACT(EPOCH FROM ended_at - started_at) AS double precision)`;
}
