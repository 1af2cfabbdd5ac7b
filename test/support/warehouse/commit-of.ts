import { contentSha256 } from '../../../schema/digest.ts';
import { inKeyOrder } from '../../../schema/order.ts';
import { tablesOf } from '../../../schema/tables.ts';
import { dayOf, parseDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import { encodeRows } from '../../../src/warehouse/encoded-rows.ts';
import type { DayCommit, Row, SettleRule, TableRows } from '../../../src/warehouse/port.ts';

/** Rows by table name, each with the values after org_id and date; tables that are not named have no rows. */
export type RowsByTable = Readonly<Record<string, readonly Row[]>>;

/** What a commit in a test may choose. */
export type CommitSpec = Partial<
  Omit<DayCommit, 'kind' | 'day' | 'tables' | 'contentSha256' | 'pulledAt'>
> & {
  readonly day?: string;
  readonly rows?: RowsByTable;
  readonly pulledAt?: string;
  /** The pull comes at the age at which days settle. Default: it comes long before. */
  readonly settled?: boolean;
};

/** A rule by which every day settles that is over, or none does. */
export function ruleOf(settled: boolean, pulledAt: Date): SettleRule {
  return { today: dayOf(pulledAt), settleDays: settled ? 0 : 36_500 };
}

/** A day of a stream, ready to be stored. */
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
