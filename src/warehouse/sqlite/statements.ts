import type { AnyTable } from '../../../schema/define.ts';

/** SQL for one table, generated from its declaration; every value is bound by position. */
export interface TableStatements {
  /** Inserts a row. A clause for conflicts may follow. */
  readonly insert: string;
  /** Inserts a row, or updates it where a value differs: an unchanged row is not written. */
  readonly upsert: string;
  /** Deletes one row by its whole key. */
  readonly deleteByKey: string;
}

function quoted(name: string): string {
  return `"${name}"`;
}

const known = new WeakMap<AnyTable, TableStatements>();

/** The statements that write `table`. */
export function statementsOf(table: AnyTable): TableStatements {
  const statements = known.get(table) ?? generate(table);
  known.set(table, statements);
  return statements;
}

function generate(table: AnyTable): TableStatements {
  const names = Object.keys(table.columns);
  const values = names.filter((name) => !table.key.includes(name)).map(quoted);
  const assignments = values.map((name) => `${name} = excluded.${name}`).join(', ');
  const differs = values.map((name) => `${quoted(table.name)}.${name} IS NOT excluded.${name}`).join(' OR ');
  const conflict = values.length === 0 ? 'DO NOTHING' : `DO UPDATE SET ${assignments} WHERE ${differs}`;
  const columns = names.map(quoted).join(', ');
  const insert = `INSERT INTO ${quoted(table.name)} (${columns}) VALUES (${names.map(() => '?').join(', ')})`;
  return {
    insert,
    upsert: `${insert} ON CONFLICT (${table.key.map(quoted).join(', ')}) ${conflict}`,
    deleteByKey: `DELETE FROM ${quoted(table.name)} WHERE ${equals(table.key)}`,
  };
}

/** The keys of the rows in a scope, as rows of key values. */
export function selectKeys(table: AnyTable, scope: readonly string[]): string {
  return `SELECT ${table.key.map(quoted).join(', ')} FROM ${quoted(table.name)} WHERE ${equals(scope)}`;
}

/** Every column of the rows in a scope, in key order. */
export function selectRows(table: AnyTable, scope: readonly string[]): string {
  return selectWhere(table, [equals(scope)]);
}

/** Selects columns, by default all, of the rows that meet all conditions, in key order. */
export function selectWhere(
  table: AnyTable,
  conditions: readonly string[],
  columns: readonly string[] = Object.keys(table.columns),
): string {
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const names = columns.map(quoted).join(', ');
  return `SELECT ${names} FROM ${quoted(table.name)}${where} ORDER BY ${table.key.map(quoted).join(', ')}`;
}

/** Number of rows and the sum of each additive column in a scope; TOTAL, because SUM fails on huge integers. */
export function selectSums(table: AnyTable, scope: readonly string[]): string {
  const sums = Object.entries(table.columns)
    .filter(([, column]) => column.additive === true)
    .map(
      ([name]) => `, CASE WHEN COUNT(${quoted(name)}) > 0 THEN TOTAL(${quoted(name)}) END AS ${quoted(name)}`,
    );
  return `SELECT COUNT(*) AS "rows"${sums.join('')} FROM ${quoted(table.name)} WHERE ${equals(scope)}`;
}

/** Deletes the rows in a scope. */
export function deleteScope(table: AnyTable, scope: readonly string[]): string {
  return `DELETE FROM ${quoted(table.name)} WHERE ${equals(scope)}`;
}

function equals(columns: readonly string[]): string {
  return columns.map((name) => `${quoted(name)} = ?`).join(' AND ');
}
