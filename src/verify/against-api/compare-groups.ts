import { decoderOf } from '../../../schema/row.ts';
import { CREDIT_COLUMNS } from '../../../schema/tables/tokens.ts';
import { tables } from '../../../schema/tables.ts';
import { BadRequestError } from '../../api/errors.ts';
import { GROUP_BY } from '../../api/paths.ts';
import { analyticsRequest } from '../../api/requests.ts';
import { ActivityByClientRow } from '../../api/shapes/activity.ts';
import { type RowCheck, rowCheck } from '../../api/shapes/salvage.ts';
import { MODEL_KEYS, TokensByModelRow } from '../../api/shapes/tokens.ts';
import { ToolsByToolRow } from '../../api/shapes/tools.ts';
import { analyticsPage } from '../../api/walk/pages.ts';
import type { UtcDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import type { PullCall, Source } from '../../pipeline/pull.ts';
import type { TableRows } from '../../warehouse/port.ts';
import type { FindingList } from '../finding.ts';

/** A day of a stream from its plain response: nested breakdowns, as tables. */
export interface PlainDay {
  readonly orgId: string;
  readonly stream: DailyStream;
  readonly day: UtcDay;
  readonly tables: readonly TableRows[];
}

/** How the grouped rows of an endpoint compare with the table of its nested breakdown. */
interface Grouping {
  readonly groupBy: string;
  readonly check: RowCheck<object>;
  readonly table: string;
  /** The column that the rows are grouped by, and the fields of a grouped row that may hold its value. */
  readonly by: { readonly column: string; readonly keys: readonly string[] };
  /** Metrics of a grouped row, each with the table's column for the same figure. */
  readonly metrics: readonly (readonly [name: string, column: string])[];
}

const GROUPINGS: { readonly [Name in DailyStream]?: Grouping } = {
  tokens: {
    groupBy: GROUP_BY.tokens,
    check: rowCheck(TokensByModelRow) as RowCheck<object>,
    table: tables.tokensDailyByModel.name,
    by: { column: 'model_id', keys: ['group_key', ...MODEL_KEYS] },
    metrics: CREDIT_COLUMNS.map((name) => [name, name] as const),
  },
  tools: {
    groupBy: GROUP_BY.tools,
    check: rowCheck(ToolsByToolRow),
    table: tables.toolsDailyByTool.name,
    by: { column: 'tool', keys: ['group_key'] },
    metrics: [['tool_calls', 'invocations']],
  },
  activity: {
    groupBy: GROUP_BY.activity,
    check: rowCheck(ActivityByClientRow),
    table: tables.activityDailyByClient.name,
    by: { column: 'client', keys: ['group_key'] },
    metrics: [['daily_active_users', 'daily_active_users']],
  },
};

/**
 * Requests a day grouped (specification, section 4.2) and compares every figure with the nested one of the plain response. A
 * figure that one of them lacks is not compared. Does nothing if the service rejects the grouping.
 */
export async function compareGroups(
  { transport, hosts }: Source,
  { orgId, stream, day, tables: plain }: PlainDay,
  call: PullCall,
  findings: FindingList,
): Promise<void> {
  const grouping = GROUPINGS[stream];
  if (grouping === undefined) return;
  const { groupBy, check, by } = grouping;
  const name = `pull ${stream} ${day} by ${groupBy}`;
  const query = { startDate: day, endDate: day, groupBy };
  const answer = await transport.get(analyticsRequest(hosts, stream, query), call).catch((error: unknown) => {
    if (error instanceof BadRequestError) return undefined;
    throw error;
  });
  if (answer === undefined) return;
  const page = analyticsPage(answer, name);
  const { rows } = check(page.data, { path: 'data', text: page.text });
  const grouped = new Breakdown();
  for (const row of rows) {
    const group = by.keys.map((key) => Reflect.get(row, key)).find((value) => typeof value === 'string');
    for (const [metric, column] of grouping.metrics) grouped.add(group, column, Reflect.get(row, metric));
  }
  const nested = nestedBreakdown(grouping, plain);
  for (const [place, expected] of nested.figures) {
    const found = grouped.figures.get(place);
    if (found === undefined || found === expected) continue;
    const [group, column] = JSON.parse(place) as [string, string];
    const what = `${column} of ${JSON.stringify(group)} by ${groupBy} = ${grouping.table}.${column}`;
    findings.add({ severity: 'oddity', orgId, stream, day, what, expected, found });
  }
  const what = `number of groups by ${groupBy} = rows of ${grouping.table}`;
  const [expected, found] = [nested.groups.size, grouped.groups.size];
  if (found !== expected) findings.add({ severity: 'oddity', orgId, stream, day, what, expected, found });
}

function nestedBreakdown({ table: name, by, metrics }: Grouping, plain: readonly TableRows[]): Breakdown {
  const breakdown = new Breakdown();
  for (const { table, rows } of plain) {
    if (table.name !== name) continue;
    for (const row of rows.map(decoderOf(table))) {
      for (const [, column] of metrics) breakdown.add(row[by.column], column, row[column]);
    }
  }
  return breakdown;
}

/** Figures by group and column; missing ones are left out. */
class Breakdown {
  readonly groups = new Set<unknown>();
  readonly figures = new Map<string, number>();

  add(group: unknown, column: string, value: unknown): void {
    this.groups.add(group);
    if (typeof value !== 'number') return;
    const place = JSON.stringify([group, column]);
    this.figures.set(place, (this.figures.get(place) ?? 0) + value);
  }
}
