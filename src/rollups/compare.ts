import type { AnyTable, ColumnKind } from '../../schema/define.ts';
import { listOf, type SQL, sql } from '../../schema/query.ts';
import { columnsOf, encoderOf, type Value } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { FIRST_DAY, isDay, type UtcDay } from '../core/day.ts';
import { type QueryRow, runReads, type Warehouse } from '../port/index.ts';
import { type Bucket, bucketsOf, calendarRow, isIn, monthBucketOf, weekOf } from './calendar.ts';
import { teamPeriods } from './resolve-people.ts';
import {
  isUsersCurrent,
  MARKED_ROLLUPS,
  type MarkedRollup,
  readStanding,
  type Standing,
  storedOf,
  streamOf,
} from './standing.ts';
import { columnList, organizationTotals, tablesOfBucket, usersOfToday } from './totals.ts';

/** What a check finds, and the first day that is concerned. */
export type RollupFinding =
  | { readonly day: UtcDay; readonly difference: RollupDifference }
  /** The rollup waits for the next refresh: so many of its days, or its people, have changed. */
  | { readonly day: UtcDay; readonly stale: MarkedRollup; readonly days: number };

/** The tables that are computed by buckets, and the bucket of a row; days are compared by month. */
const BUCKETED = [
  { table: tables.userWeekly, name: sql`week_start`, rollup: 'weekly' },
  { table: tables.userMonthly, name: sql`month`, rollup: 'monthly' },
  { table: tables.userEmails, name: sql`month`, rollup: 'monthly' },
  { table: tables.userMonthlyLanguages, name: sql`month`, rollup: 'monthly' },
  { table: tables.teamDaily, name: sql`substr(CAST(date AS text), 1, 7)`, rollup: 'teams' },
  { table: tables.teamModelDaily, name: sql`substr(CAST(date AS text), 1, 7)`, rollup: 'models' },
] as const;

/** The days of a stream whose rows are known to differ from the ledger. */
export type BrokenDays = Readonly<Record<'users' | 'tokens', ReadonlySet<string>>>;

/** The organizations that have rollups. */
export async function organizationsWithRollups(warehouse: Warehouse): Promise<string[]> {
  const parts = [...BUCKETED.map(({ table }) => table), tables.orgMonthly, tables.users, tables.userTeams];
  const selects = parts.map(({ name }) => sql`SELECT org_id FROM ${sql.identifier(name)}`);
  const rows = await warehouse.select(sql`${sql.join(selects, sql` UNION `)} ORDER BY org_id`);
  return rows.map(({ org_id }) => String(org_id));
}

/**
 * Compares the rollups of an organization with the facts wherever their marks are current. Call inside a snapshot.
 * @param broken these days and their buckets are left out.
 */
export async function* checkRollups(
  warehouse: Warehouse,
  orgId: string,
  broken: BrokenDays,
): AsyncGenerator<RollupFinding> {
  const standing = await runReads(warehouse, readStanding(orgId));
  yield* staleFindings(standing, broken);
  for (const rollup of new Set(BUCKETED.map((each) => each.rollup)))
    yield* checkBuckets(warehouse, orgId, { rollup, standing, broken });
  const day = standing.today ?? FIRST_DAY;
  const found = await organizationDifferences(warehouse, orgId);
  const isCurrent = isUsersCurrent(standing) && broken.users.size === 0;
  if (isCurrent) {
    found.push(...(await teamDifferences(warehouse, orgId, standing)));
    found.push(...(await userDifferences(warehouse, orgId, day)));
  }
  yield* found.map((difference) => ({ day, difference }));
}

/** Compares the weeks or months of an organization, including those of which only the rollup has rows. */
async function* checkBuckets(
  warehouse: Warehouse,
  orgId: string,
  { rollup, standing, broken }: BucketCheck,
): AsyncGenerator<RollupFinding> {
  const leftOut = [...standing.stale[rollup], ...[...broken[streamOf(rollup)]].filter(isDay)];
  const isByDay = rollup === 'teams' || rollup === 'models';
  const names = new Set(isByDay ? [] : bucketsOf(rollup, leftOut).map(({ name }) => name));
  const days = storedOf(standing, rollup).map(({ day }) => day);
  const buckets = new Map(days.map((day) => bucketOf(rollup, day)).map((bucket) => [bucket.name, bucket]));
  for (const { table, name, rows } of await storedBuckets(warehouse, orgId, rollup)) {
    const bucket = bucketNamed(rollup, name);
    if (bucket !== undefined) buckets.set(name, bucket);
    else yield { day: FIRST_DAY, difference: { table, row: name, column: 'rows', expected: 0, found: rows } };
  }
  for (const bucket of buckets.values()) {
    if (names.has(bucket.name)) continue;
    const differences = await bucketDifferences(warehouse, orgId, bucket, isByDay ? leftOut : []);
    yield* differences.map((difference) => ({ day: dayIn(bucket, difference), difference }));
  }
}

/** The bucket of a day in which rows are compared. */
function bucketOf(rollup: Bucket['rollup'], day: UtcDay): Bucket {
  return rollup === 'weekly' ? weekOf(day) : { ...monthBucketOf(day), rollup };
}

interface BucketCheck {
  readonly rollup: Bucket['rollup'];
  readonly standing: Standing;
  readonly broken: BrokenDays;
}

function staleFindings({ stale, isPeopleStale, today }: Standing, broken: BrokenDays): RollupFinding[] {
  return MARKED_ROLLUPS.flatMap((rollup) => {
    const days = stale[rollup].filter((day) => !broken[streamOf(rollup)].has(day));
    if (days.length === 0 && !(rollup === 'users' && isPeopleStale)) return [];
    return [{ day: days.toSorted()[0] ?? today ?? FIRST_DAY, stale: rollup, days: days.length }];
  });
}

/** The buckets of which a rollup's tables have rows, and how many. */
async function storedBuckets(warehouse: Warehouse, orgId: string, rollup: Bucket['rollup']) {
  const found: { readonly table: string; readonly name: string; readonly rows: number }[] = [];
  for (const { table, name } of BUCKETED.filter((each) => each.rollup === rollup)) {
    const names = await warehouse.select(
      sql`SELECT ${name} AS bucket, COUNT(*) AS stored_rows FROM ${sql.identifier(table.name)}
        WHERE org_id = ${orgId} GROUP BY ${name} ORDER BY ${name}`,
    );
    for (const { bucket, stored_rows } of names)
      found.push({ table: table.name, name: String(bucket), rows: Number(stored_rows) });
  }
  return found;
}

/** The bucket of a name; undefined for a name that no bucket has. */
function bucketNamed(rollup: Bucket['rollup'], name: string): Bucket | undefined {
  const day = rollup === 'weekly' ? name : `${name}-01`;
  if (!isDay(day)) return undefined;
  const bucket = bucketOf(rollup, day);
  return bucket.name === name ? bucket : undefined;
}

/** The day of a difference; of a week or month the first one. */
function dayIn({ rollup, firstDay }: Bucket, { row }: RollupDifference): UtcDay {
  const [day] = row.split(', ');
  if ((rollup === 'teams' || rollup === 'models') && isDay(day)) return day;
  return firstDay < FIRST_DAY ? FIRST_DAY : firstDay;
}

const encodePeriod = encoderOf(tables.userTeams);

/** Compares `user_teams` with `people` and `user_emails`. Memory holds both, as a refresh does. */
async function teamDifferences(
  warehouse: Warehouse,
  orgId: string,
  standing: Standing,
): Promise<RollupDifference[]> {
  const periods = await runReads(warehouse, teamPeriods(orgId, standing));
  const expected = new Set(periods.map((period) => JSON.stringify(encodePeriod(period))));
  const stored = await warehouse.rowsOf(tables.userTeams, { orgId });
  const found = new Set(stored.map((row) => JSON.stringify(row)));
  const differing = (text: string, isExpected: boolean): RollupDifference => ({
    table: tables.userTeams.name,
    row: keyIn(text),
    column: 'row',
    expected: Number(isExpected),
    found: Number(!isExpected),
  });
  return [
    ...[...expected].filter((text) => !found.has(text)).map((text) => differing(text, true)),
    ...[...found].filter((text) => !expected.has(text)).map((text) => differing(text, false)),
  ];
}

function keyIn(text: string): string {
  const values: Value[] = JSON.parse(text);
  return values.slice(1, tables.userTeams.key.length).join(', ');
}

const encodeDate = encoderOf(tables.dates);

/** The stored days of the calendar that are wrong. */
export async function wrongDates(warehouse: Warehouse): Promise<RollupFinding[]> {
  const found: RollupFinding[] = [];
  for await (const rows of warehouse.scan(tables.dates)) {
    for (const [date, ...values] of rows) {
      const expected = isDay(date) ? encodeDate(calendarRow(date)).slice(1) : [];
      if (JSON.stringify(values) === JSON.stringify(expected)) continue;
      const at = { table: tables.dates.name, row: String(date), column: columnsOf(tables.dates).join(', ') };
      const difference = { ...at, expected: expected.join(', '), found: values.join(', ') };
      found.push({ day: isDay(date) ? date : FIRST_DAY, difference });
    }
  }
  return found;
}

/** A value of a rollup that differs from what its sources give. */
interface RollupDifference {
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

/**
 * Compares a bucket with the rows of days. The database compares, so memory holds only the differences.
 * @param leftOut days of it that are not compared.
 */
async function bucketDifferences(
  warehouse: Warehouse,
  orgId: string,
  bucket: Bucket,
  leftOut: readonly UtcDay[],
): Promise<RollupDifference[]> {
  const own = leftOut.filter((day) => bucket.firstDay <= day && day <= bucket.lastDay);
  const isCompared =
    own.length === 0 ? sql`TRUE` : sql`date NOT IN (${listOf(own.map((day) => sql`${day}`))})`;
  const found: RollupDifference[] = [];
  for (const { table, rows } of tablesOfBucket(warehouse.dialect, orgId, bucket)) {
    const computed = own.length === 0 ? rows : sql`SELECT * FROM (${rows}) AS rows WHERE ${isCompared}`;
    found.push(
      ...(await compare(warehouse, {
        orgId,
        table,
        condition: sql`${isIn(bucket)} AND ${isCompared}`,
        computed,
      })),
    );
  }
  return found;
}

/** Compares `org_monthly` with `user_monthly`. */
function organizationDifferences(warehouse: Warehouse, orgId: string): Promise<RollupDifference[]> {
  const computed = organizationTotals(orgId, '');
  return compare(warehouse, { orgId, table: tables.orgMonthly, condition: sql`TRUE`, computed });
}

/** Compares `users` with `user_monthly`, `user_teams` and the last days of `user_daily`. */
function userDifferences(warehouse: Warehouse, orgId: string, today: UtcDay): Promise<RollupDifference[]> {
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
  const order = key.map(
    (column) => sql`COALESCE(${sql.identifier(column)}, ${sql.identifier(`stored_${column}`)})`,
  );
  // SQLite plans a FULL JOIN as nested scans. The stored row of a computed one is found by the key, the computed row of a stored one by
  // an automatic index.
  return sql`
    WITH computed AS MATERIALIZED (${computed}), stored AS MATERIALIZED (
      SELECT ${columnList(table)} FROM ${sql.identifier(table.name)} WHERE org_id = ${orgId} AND ${condition}
    )
    SELECT * FROM (
      SELECT ${listOf(shown)} FROM computed
      LEFT JOIN ${sql.identifier(table.name)} AS stored ON stored.org_id = ${orgId} AND ${sql.join(isSameKey, sql` AND `)}
      WHERE stored.org_id IS NULL OR ${sql.join(differs, sql` OR `)}
      UNION ALL
      SELECT ${listOf(shown)} FROM stored LEFT JOIN computed ON ${sql.join(isSameKey, sql` AND `)}
      WHERE computed.org_id IS NULL
    ) AS differing
    ORDER BY ${listOf(order)}
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
