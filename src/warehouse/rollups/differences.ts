import type { AnyTable, ColumnKind } from '../../../schema/define.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import type { UtcDay } from '../../core/day.ts';
import type { QueryRow, Value, Warehouse } from '../port.ts';
import { type Bucket, isIn } from './buckets.ts';
import { columnList, listOf } from './fragments.ts';
import { monthEmails, organizationTotals, usersOfToday, userTotals } from './totals.ts';

/** A value of a rollup that differs from what its sources give. */
export interface RollupDifference {
  readonly table: string;
  /** The key of the row without its organization, as people read it: `2026-03-02, user_1`. */
  readonly row: string;
  /** The column that differs; `row` if the row is missing or should not be there. */
  readonly column: string;
  readonly expected: Value;
  readonly found: Value;
}

/** Relative difference up to which sums count as equal: sums of doubles depend on their order. */
const TOLERANCE = sql.raw('1e-9');

/** How many rows of one comparison are reported. */
const ROWS_MAX = 20;

/** Rows of a table to compare with those that a query computes. */
interface Comparison {
  readonly orgId: string;
  readonly table: AnyTable;
  /** Selects the stored rows. */
  readonly condition: SQL;
  readonly computed: SQL;
}

/** Compares a week or month with `user_daily`. The database compares, so memory holds only the differences. */
export async function bucketDifferences(
  warehouse: Warehouse,
  orgId: string,
  bucket: Bucket,
): Promise<RollupDifference[]> {
  const condition = isIn(bucket);
  const computed = userTotals(warehouse.dialect, orgId, bucket);
  if (bucket.rollup === 'weekly')
    return compare(warehouse, { orgId, table: tables.userWeekly, condition, computed });
  return [
    ...(await compare(warehouse, { orgId, table: tables.userMonthly, condition, computed })),
    ...(await compare(warehouse, {
      ...{ orgId, table: tables.userEmails, condition },
      computed: monthEmails(orgId, bucket),
    })),
  ];
}

/** Compares `org_monthly` with `user_monthly`. */
export function organizationDifferences(warehouse: Warehouse, orgId: string): Promise<RollupDifference[]> {
  const computed = organizationTotals(orgId, '');
  return compare(warehouse, { orgId, table: tables.orgMonthly, condition: sql`TRUE`, computed });
}

/** Compares `users` with `user_monthly`, `user_teams` and the last days of `user_daily`. */
export function userDifferences(
  warehouse: Warehouse,
  orgId: string,
  today: UtcDay,
): Promise<RollupDifference[]> {
  const computed = usersOfToday(warehouse.dialect, orgId, today);
  return compare(warehouse, { orgId, table: tables.users, condition: sql`TRUE`, computed });
}

async function compare(warehouse: Warehouse, comparison: Comparison): Promise<RollupDifference[]> {
  const { table } = comparison;
  const rows = await warehouse.select(differingRows(comparison));
  return rows.flatMap((row) => describe(table, row));
}

/** The query for the differing rows: each column as computed and, after `stored_`, as stored. */
function differingRows({ orgId, table, condition, computed }: Comparison): SQL {
  const key = table.key.slice(1);
  const others = otherColumns(table);
  const name = (side: string, column: string) => sql`${sql.raw(side)}.${sql.identifier(column)}`;
  const isSameKey = key.map((column) => sql`${name('computed', column)} = ${name('stored', column)}`);
  const differs = others.map(([column, kind]) =>
    isDifferent(kind, name('computed', column), name('stored', column)),
  );
  const shown = [...key, ...others.map(([column]) => column)].flatMap((column) => [
    sql`${name('computed', column)} AS ${sql.identifier(column)}`,
    sql`${name('stored', column)} AS ${sql.identifier(`stored_${column}`)}`,
  ]);
  return sql`
    SELECT ${listOf(shown)} FROM (${computed}) AS computed
    FULL JOIN (
      SELECT ${columnList(table)} FROM ${sql.identifier(table.name)} WHERE org_id = ${orgId} AND ${condition}
    ) AS stored ON ${sql.join(isSameKey, sql` AND `)}
    WHERE computed.org_id IS NULL OR stored.org_id IS NULL OR ${sql.join(differs, sql` OR `)}
    ORDER BY ${listOf(key.map((column) => sql`COALESCE(${name('computed', column)}, ${name('stored', column)})`))}
    LIMIT ${sql.raw(String(ROWS_MAX))}`;
}

function isDifferent(kind: ColumnKind, computed: SQL, stored: SQL): SQL {
  if (kind !== 'metric') return sql`${computed} IS DISTINCT FROM ${stored}`;
  return sql`(${computed} IS NULL) <> (${stored} IS NULL)
    OR ABS(${computed} - ${stored}) > ${TOLERANCE} * (ABS(${computed}) + ABS(${stored}))`;
}

function otherColumns({ key, columns }: AnyTable): [string, ColumnKind][] {
  return Object.entries(columns).flatMap(([name, { kind }]) => (key.includes(name) ? [] : [[name, kind]]));
}

/** One difference per column of a row. */
function describe(table: AnyTable, row: QueryRow): RollupDifference[] {
  const [, first = ''] = table.key;
  const valueIn = (name: string) => row[name] ?? null;
  const [isComputed, isStored] = [valueIn(first) !== null, valueIn(`stored_${first}`) !== null];
  const key = table.key.slice(1).map((name) => valueIn(isComputed ? name : `stored_${name}`));
  const at = { table: table.name, row: key.join(', ') };
  if (!isComputed || !isStored)
    return [{ ...at, column: 'row', expected: Number(isComputed), found: Number(isStored) }];
  return otherColumns(table).flatMap(([column, kind]) => {
    const [expected, found] = [valueIn(column), valueIn(`stored_${column}`)];
    return isEqual(kind, expected, found) ? [] : [{ ...at, column, expected, found }];
  });
}

function isEqual(kind: ColumnKind, expected: Value, found: Value): boolean {
  if (kind !== 'metric' || typeof expected !== 'number' || typeof found !== 'number')
    return expected === found;
  return Math.abs(expected - found) <= 1e-9 * (Math.abs(expected) + Math.abs(found));
}
