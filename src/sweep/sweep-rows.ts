import type { AnyTable } from '../../schema/define.ts';
import { contentSha256 } from '../../schema/digest.ts';
import { type SQL, sql } from '../../schema/query.ts';
import {
  columnsOf,
  decoderOf,
  keyOf,
  readerOf,
  type TableRows,
  type Value,
  type Values,
} from '../../schema/row.ts';
import { allTables, sourceTables, tables, tablesOf } from '../../schema/tables.ts';
import { type DayAnswer, partsOf, sweepArchived } from '../archive/index.ts';
import type { Clock } from '../core/clock.ts';
import { isDay, parseDay, type UtcDay } from '../core/day.ts';
import { DefectError } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import { DAILY_STREAMS, isDailyStream, type Stream } from '../core/stream.ts';
import { GATE_KEYS, type Passing, sweptTable, textColumnsOf } from '../kept-out/index.ts';
import { rewrittenRow } from '../ledger/index.ts';
import { forgetExpected } from '../organizations/index.ts';
import { collectArchived } from '../pipeline/index.ts';
import { changeRows, type ScanScope, type Warehouse } from '../port/index.ts';
import { Gate, isOrdinary } from '../privacy/index.ts';
import { ERASURE, STATES } from '../records/index.ts';

/** What is swept out of what. */
export interface Sweep {
  readonly warehouse: Warehouse;
  readonly orgId: string;
  readonly passing: Passing;
  /** The values to sweep out, by which the database finds the rows that may hold them; '' for every row. */
  readonly values: readonly string[];
  /** Only count. */
  readonly isDryRun: boolean;
  /** Remove archived rows that cannot be read. */
  readonly dropsDamaged: boolean;
  readonly signal: AbortSignal;
  readonly tally: Tally;
}

const NOTHING = { rows: {}, units: 0 };

/** Counts what a sweep has changed. */
export class Tally {
  readonly rows: Map<string, number>;
  units: number;

  /** @param before what an earlier call has changed. @default nothing */
  constructor(before: { readonly rows: Readonly<Record<string, number>>; readonly units: number } = NOTHING) {
    this.rows = new Map(Object.entries(before.rows));
    this.units = before.units;
  }

  add(table: string, rows: number): void {
    if (rows > 0) this.rows.set(table, (this.rows.get(table) ?? 0) + rows);
  }
}

/** Parts of a value that every database compares alike. */
const ASCII_PARTS = /[\x21-\x7e]+/g;
/** A JSON text may write any character as an escape. */
const JSON_ESCAPE = '%\\u%';

/**
 * A condition that holds for every row of a table that may hold one of the values in any text, in any letter case; and for some
 * others. Null if the table has no text.
 */
export function mayHold(table: AnyTable, values: readonly string[]): SQL | null {
  const patterns = [...new Set(values.map(patternOf))];
  const conditions = textColumnsOf(table).flatMap(({ name, isJson }) => {
    const text = sql`LOWER(CAST(${sql.identifier(name)} AS TEXT))`;
    const wanted = isJson ? [...patterns, JSON_ESCAPE] : patterns;
    return wanted.map((pattern) => sql`${text} LIKE ${pattern} ESCAPE '!'`);
  });
  return conditions.length === 0 ? null : sql`(${sql.join(conditions, sql` OR `)})`;
}

/** The longest part in ASCII, as it may stand inside a longer text; quotes and backslashes may be escaped there. */
function patternOf(value: string): string {
  const parts =
    value
      .toLowerCase()
      .replace(/["\\/]/g, ' ')
      .match(ASCII_PARTS) ?? [];
  const longest = parts.reduce((a, b) => (b.length > a.length ? b : a), '');
  return `%${longest.replace(/[!%_]/g, '!$&')}%`;
}

/** IDs of users in JSON; quotes inside of its texts are escaped. */
const USER_IDS = /"user_id"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** True if a record in quarantine, a hook event or a session has the ID where the ID of a user stands. */
export async function isNamedAsUser(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  user: string,
): Promise<boolean> {
  if (!canBeId(user)) return false;
  for (const table of [tables.quarantine, tables.hookEvents, tables.sessions]) {
    const texts = textColumnsOf(table).flatMap(({ name, isJson }) => (isJson ? [sql.identifier(name)] : []));
    const rows = await warehouse.select(
      sql`SELECT ${sql.join(
        texts.map((name) => sql`CAST(${name} AS TEXT) AS ${name}`),
        sql`, `,
      )} FROM ${sql.identifier(table.name)} WHERE org_id IN (${orgId}, '') AND ${mayHold(table, [user]) ?? sql`1 = 0`}`,
    );
    const isIn = (text: unknown) =>
      typeof text === 'string' &&
      [...text.matchAll(USER_IDS)].some(([, value = '']) => parseJson(value) === user);
    if (rows.some((row) => Object.values(row).some(isIn))) return true;
  }
  return false;
}

/** False for an address, for nothing, and for a word that stands for nobody, as damaged records have it. */
export function canBeId(value: string): boolean {
  return !isOrdinary(value) && !value.includes('@');
}

const decodeUnit = decoderOf(tables.exportUnits);

/**
 * Sweeps the rows of every unit. A unit changes in one transaction with its ledger row: the digest of its content is computed
 * again, and that of its answers is forgotten, because the service goes on sending the person.
 */
export async function sweepUnits(sweep: Sweep): Promise<void> {
  for (const stream of DAILY_STREAMS) {
    for (const day of await daysToSweep(sweep, stream)) {
      sweep.signal.throwIfAborted();
      await sweepUnit(sweep, stream, { orgId: sweep.orgId, firstDay: day, lastDay: day });
    }
  }
  await sweepUnit(sweep, 'readiness', { orgId: sweep.orgId });
}

async function daysToSweep({ warehouse, orgId, values }: Sweep, stream: Stream): Promise<UtcDay[]> {
  const days = new Set<UtcDay>();
  for (const table of tablesOf(stream)) {
    const condition = mayHold(table, values);
    if (condition === null) continue;
    const name = sql.identifier(table.name);
    const found = await warehouse.select(
      sql`SELECT DISTINCT CAST(date AS TEXT) AS day FROM ${name} WHERE org_id = ${orgId} AND ${condition}`,
    );
    for (const { day } of found) if (isDay(day)) days.add(day);
  }
  return [...days].sort();
}

interface UnitScope {
  readonly orgId: string;
  readonly firstDay?: UtcDay;
  readonly lastDay?: UtcDay;
}

export async function sweepUnit(sweep: Sweep, stream: Stream, scope: UnitScope): Promise<void> {
  const { warehouse, passing, isDryRun, tally } = sweep;
  const after: TableRows[] = [];
  const put: TableRows[] = [];
  const remove: TableRows[] = [];
  for (const table of tablesOf(stream)) {
    const swept = sweptTable(table, await warehouse.rowsOf(table, scope), passing.rowsOf(table));
    after.push({ table, rows: swept.after });
    const isGone = swept.put.length === 0;
    if (isGone && swept.removed.length === 0) continue;
    put.push({ table, rows: swept.put });
    remove.push({ table, rows: swept.removed });
    tally.add(table.name, isGone ? swept.removed.length : swept.put.length);
  }
  if (put.length === 0) return;
  tally.units += 1;
  if (isDryRun) return;
  const content = {
    digest: contentSha256(after),
    rows: after.reduce((sum, { rows }) => sum + rows.length, 0),
  };
  const ledger = await ledgerRow(sweep, stream, scope, content);
  await changeRows(warehouse, { put: [...put, ...ledger], remove });
}

/** The texts of the row are swept with those of other tables. */
async function ledgerRow(
  { warehouse }: Sweep,
  stream: Stream,
  scope: UnitScope,
  { digest, rows: count }: { readonly digest: string; readonly rows: number },
): Promise<TableRows[]> {
  const table = tables.exportUnits;
  const units = await warehouse.rowsOf(table, scope);
  const rowCount = columnsOf(table).indexOf('rows');
  const rows = units
    .filter((unit) => decodeUnit(unit).stream === stream)
    .map((unit) => rewrittenRow(unit, digest).with(rowCount, count));
  return rows.length === 0 ? [] : [{ table, rows }];
}

/** The tables of an organization whose rows are in no unit, and are not computed from others. */
const TABLES: readonly AnyTable[] = sourceTables.filter(
  (table) =>
    table.stream === null &&
    table.key[0] === 'org_id' &&
    table !== tables.erased &&
    // A published week stays as it was published, and names nobody.
    table !== tables.publishedWeeks &&
    textColumnsOf(table).length > 0,
);
/** Rows of these tables may belong to no organization. */
const WITHOUT_ORGANIZATION: ReadonlySet<AnyTable> = new Set<AnyTable>([
  tables.hookEvents,
  tables.exportState,
]);

/** Rows that change in one transaction. */
const ROWS_MAX = 10_000;
/** More rounds than any table needs: each changes ten thousand rows. */
const ROUNDS_MAX = 1_000_000;

/** Sweeps the rows that belong to no unit's content, some at a time. */
export async function sweepRows(sweep: Sweep): Promise<void> {
  for (const table of TABLES) {
    const scopes = WITHOUT_ORGANIZATION.has(table) ? [sweep.orgId, ''] : [sweep.orgId];
    for (const orgId of scopes) await sweepTable(sweep, table, orgId);
  }
}

export async function sweepTable(sweep: Sweep, table: AnyTable, orgId: string): Promise<void> {
  const { warehouse, tally, isDryRun, signal } = sweep;
  let after: Values | undefined;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    signal.throwIfAborted();
    const changes = await changesOf(sweep, table, { orgId, ...(after !== undefined && { after }) });
    tally.add(table.name, changes.found);
    if (!isDryRun && changes.found > 0)
      await changeRows(warehouse, {
        put: [{ table, rows: changes.put }],
        remove: [{ table, rows: changes.removed }],
      });
    if (changes.found < ROWS_MAX) return;
    after = changes.last;
  }
}

/** SQLite cannot write during an unfinished scan, so the changes are collected first. */
async function changesOf({ warehouse, passing }: Sweep, table: AnyTable, scope: ScanScope) {
  const pass = passing.othersOf(table);
  const isPlan = planTest(table);
  // Two rows may become one, such as bad records that differed in a name only.
  const put = new Map<string, Values>();
  const key = keyOf(table);
  let found = 0;
  let last: Values | undefined;
  const removed: Values[] = [];
  for await (const rows of warehouse.scan(table, scope)) {
    for (const before of rows) {
      const row = isPlan(before) ? before : pass(before);
      if (row === before) continue;
      found += 1;
      if (row === null) {
        removed.push(before);
        continue;
      }
      const name = JSON.stringify(key(row));
      put.set(name, row);
      if (JSON.stringify(key(before)) !== name) removed.push(before);
    }
    last = rows.at(-1);
    if (found >= ROWS_MAX) break;
  }
  return { found, last, put: [...put.values()], removed };
}

/** The plan of the erasure names the person until everything is swept; the others are keys and folders of this machine. */
const OWN_STATES = new Set<Value>([ERASURE, GATE_KEYS, STATES.archives, STATES.published]);

function planTest(table: AnyTable): (row: Values) => boolean {
  if (table !== tables.exportState) return () => false;
  const name = readerOf(tables.exportState, 'name');
  return (row) => OWN_STATES.has(name(row));
}

/** Tables that belong to no organization, or that remember what is kept out. */
const STAYS: ReadonlySet<AnyTable> = new Set<AnyTable>([tables.dates, tables.erased]);

/** Removes every row of an organization, one table after the other, and what others remember of it. The plan of the erasure stays. */
export async function removeOrganization({
  warehouse,
  orgId,
  isDryRun,
  tally,
  signal,
}: Sweep): Promise<void> {
  for (const table of allTables) {
    signal.throwIfAborted();
    if (STAYS.has(table) || table.columns['org_id'] === undefined) continue;
    const name = sql.identifier(table.name);
    const rest = table === tables.exportState ? sql` AND name <> ${ERASURE}` : sql``;
    const [counted] = await warehouse.select(
      sql`SELECT COUNT(*) AS stored FROM ${name} WHERE org_id = ${orgId}${rest}`,
    );
    tally.add(table.name, Number(counted?.['stored'] ?? 0));
    if (isDryRun) continue;
    await warehouse.transact('remove the organization from', function* () {
      yield sql`DELETE FROM ${name} WHERE org_id = ${orgId}${rest}`;
    });
  }
  if (!isDryRun) await forgetExpected(warehouse, orgId);
}

/** Sweeps the archived answers of an organization. The archive gets the list, and a warehouse that is rebuilt from it too. */
export function sweepArchive(
  archive: string,
  { passing, ...sweep }: Sweep,
  { isOrganization, clock }: { readonly isOrganization: boolean; readonly clock: Clock },
): ReturnType<typeof sweepArchived> {
  return sweepArchived(archive, { ...sweep, clock, people: isOrganization ? null : passing, contentOf });
}

/** The digest of what the rows of an answer are stored as. They have passed already. */
export function contentOf({ org: orgId, unit }: DayAnswer, pages: readonly string[]): string {
  const { stream, day } = partsOf(unit);
  if (!isDailyStream(stream) || day === null)
    throw new DefectError('sweep the archive', new Error(`a day of ${unit}`));
  const { day: collected } = collectArchived(
    { orgId, stream, day: parseDay(day) },
    pages,
    new Gate({ mode: 'keep' }),
  );
  return contentSha256(collected.tables);
}
