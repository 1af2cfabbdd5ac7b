import { contentSha256, encodeRows } from '../../../schema/digest.ts';
import { inKeyOrder, type TableRows, type Values } from '../../../schema/row.ts';
import { tablesOf } from '../../../schema/tables.ts';
import { dayOf, parseDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import type { SettleRule } from '../../../src/judge/agreement.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import type { CommitOutcome, DayCommit } from '../../../src/units/unit.ts';

/** Rows by table name; omitted tables have no rows. */
export type RowsByTable = Readonly<Record<string, readonly Values[]>>;

export type CommitSpec = Partial<
  Omit<DayCommit, 'kind' | 'day' | 'tables' | 'contentSha256' | 'pulledAt'>
> & {
  readonly day?: string;
  readonly rows?: RowsByTable;
  readonly pulledAt?: string;
  /** True if the pull is at the age at which days settle. @default false */
  readonly settled?: boolean;
};

/** Returns a rule by which every past day settles at the first look, or none. */
export function ruleOf(settled: boolean, pulledAt: Date): SettleRule {
  return { today: dayOf(pulledAt), settleDays: settled ? 0 : 36_500, looks: 1 };
}

/** Builds the commit of a day, with defaults for whatever the test does not choose. */
export function commitOf({ rows = {}, settled = false, ...spec }: CommitSpec = {}): DayCommit {
  const stream = spec.stream ?? 'tokens';
  const orgId = spec.orgId ?? 'org_1';
  const day = parseDay(spec.day ?? '2026-02-01');
  const tables = tablesOfUnit(stream, [orgId, day], rows);
  const pulledAt = new Date(spec.pulledAt ?? '2026-02-02T03:00:00.000Z');
  const hasRows = tables.some((part) => part.rows.length > 0);
  return {
    kind: 'day',
    state: hasRows ? 'loaded' : 'awaiting',
    rule: ruleOf(settled, pulledAt),
    isOwn: true,
    activeUsers: null,
    runId: 'run-1',
    quarantined: [],
    drift: [],
    requests: 1,
    ...spec,
    stream,
    orgId,
    day,
    tables: tables.map(encodeRows),
    contentSha256: contentSha256(tables),
    pulledAt,
  };
}

/** Every table of a stream with its rows in key order. */
export function tablesOfUnit(
  stream: DailyStream | 'readiness',
  scope: readonly string[],
  rows: RowsByTable,
): TableRows[] {
  const tables = tablesOf(stream);
  const unknown = Object.keys(rows).find((name) => !tables.some((table) => table.name === name));
  if (unknown !== undefined) throw new Error(`${stream} has no table ${unknown}`);
  return tables.map((table) => ({
    table,
    rows: inKeyOrder(
      table,
      (rows[table.name] ?? []).map((row) => [...scope, ...row]),
    ),
  }));
}

/** Commits one day. */
export async function commitDay(
  warehouse: Pick<Warehouse, 'commitDays'>,
  commit: DayCommit,
): Promise<CommitOutcome> {
  const [outcome] = await warehouse.commitDays([commit]);
  if (outcome === undefined) throw new Error('the commit has no outcome');
  return outcome;
}
