import type { AnyTable } from '../../schema/define.ts';
import { contentSha256 } from '../../schema/digest.ts';
import { type SQL, sql } from '../../schema/query.ts';
import { activityTest, byKey, columnsOf, type TableRows, type Value, type Values } from '../../schema/row.ts';
import { contentTables, tables, tablesOf } from '../../schema/tables.ts';
import { fieldValue } from '../checks/index.ts';
import { isObject, parseJson } from '../core/json.ts';
import { memberTexts } from '../core/json-text.ts';
import { renamedNotes } from '../judge/notes.ts';
import type { QueryRow, Steps } from '../port/index.ts';

/** New columns by table. */
type Added = ReadonlyMap<AnyTable, ReadonlySet<string>>;

/** What the rows of a unit look like after an upgrade. */
interface Upgraded {
  readonly contents: readonly TableRows[];
  /** How many more rows of `user_daily` show activity. */
  readonly moreUsers: number;
}

/**
 * Moves fields that the service sent before this version knew them from `extra` into their new columns, and updates the
 * digests of all units whose tables have new columns. So the warehouse has the content that a replay into an empty one gives.
 * Runs in the transaction of the migration that adds the columns. A value that does not fit its column stays in `extra`.
 */
export function* moveFields(added: Added): Steps<void> {
  const streams = new Set([...added.keys()].flatMap(({ stream }) => stream ?? []));
  for (const stream of streams) {
    const units = yield sql`
      SELECT org_id, date, content_sha256, active_users, watch FROM export_units
      WHERE stream = ${stream} AND content_sha256 IS NOT NULL`;
    for (const unit of units) {
      const { contents, moreUsers } = yield* upgradeRows(tablesOf(stream), unit, added);
      const digest = contentSha256(contents);
      const users = unit['active_users'] ?? null;
      const notes = typeof unit['watch'] === 'string' ? unit['watch'] : null;
      const watch = renamedNotes(notes, { from: String(unit['content_sha256']), to: digest });
      yield sql`
        UPDATE export_units SET content_sha256 = ${digest}, watch = ${watch},
          active_users = ${users === null ? null : Number(users) + moreUsers}
        WHERE org_id = ${unit['org_id']} AND stream = ${stream} AND date = ${unit['date']}`;
    }
  }
}

function* upgradeRows(unitTables: readonly AnyTable[], unit: QueryRow, added: Added): Steps<Upgraded> {
  const contents: TableRows[] = [];
  let moreUsers = 0;
  for (const table of unitTables) {
    const columns = columnsOf(table);
    const stored = yield selectUnit(table, unit);
    const before = stored.map((row) => columns.map((name) => row[name] ?? null)).sort(byKey(table));
    const rows = before.map((row) => movedRow(table, row, added.get(table)));
    const changed = rows.filter((row, index) => row !== before[index]);
    if (changed.length > 0) yield { table, rows: changed };
    contents.push({ table, rows });
    const isActive = activityTest(table);
    if (table === tables.userDaily)
      moreUsers += rows.filter(isActive).length - before.filter(isActive).length;
  }
  return { contents, moreUsers };
}

/** All rows of a unit in a table. The readiness reports of an organization are one unit, whose date is empty. */
function selectUnit(table: AnyTable, unit: QueryRow): SQL {
  const names = sql.join(
    columnsOf(table).map((name) => sql.identifier(name)),
    sql.raw(', '),
  );
  const ofDay = unit['date'] === '' ? sql`` : sql` AND date = ${unit['date']}`;
  return sql`SELECT ${names} FROM ${sql.identifier(table.name)} WHERE org_id = ${unit['org_id']}${ofDay}`;
}

/** The row with its fields moved; the same array if there is nothing to move. */
export function movedRow(table: AnyTable, row: Values, added: ReadonlySet<string> | undefined): Values {
  const columns = columnsOf(table);
  const extra = row[columns.indexOf('extra')];
  if (added === undefined || typeof extra !== 'string') return row;
  const fields = parseJson(extra);
  if (!isObject(fields)) return row;
  const values = new Map<string, Value>();
  for (const name of added) {
    const kind = table.columns[name]?.kind ?? '';
    const value = Object.hasOwn(fields, name) ? fieldValue(kind, fields[name]) : undefined;
    if (value !== undefined) values.set(name, value);
  }
  if (values.size === 0) return row;
  // The other fields keep all their digits.
  const rest = [...memberTexts(extra)].filter(([name]) => !values.has(name));
  const text = rest.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',');
  values.set('extra', rest.length === 0 ? null : `{${text}}`);
  return columns.map((name, position) => (values.has(name) ? values.get(name) : row[position]) ?? null);
}

/** How generated migrations add a column, in either database. */
const ADD_COLUMN = /ALTER TABLE [`"](\w+)[`"] ADD (?:COLUMN )?[`"](\w+)[`"]/g;

/** The columns that migrations add to tables with unknown fields. */
export function addedColumns(
  migrations: readonly { readonly sql: readonly string[] }[],
): ReadonlyMap<AnyTable, ReadonlySet<string>> {
  const added = new Map<AnyTable, Set<string>>();
  for (const [, name, column] of migrations.flatMap(({ sql }) => [...sql.join('\n').matchAll(ADD_COLUMN)])) {
    const table = contentTables.find((content) => content.name === name);
    if (table === undefined || column === undefined) continue;
    // A later migration may have removed it.
    if (!Object.hasOwn(table.columns, column) || !Object.hasOwn(table.columns, 'extra')) continue;
    added.set(table, (added.get(table) ?? new Set()).add(column));
  }
  return added;
}
