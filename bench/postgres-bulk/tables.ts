import type { AnyTable } from '../../schema/define.ts';
import { KINDS } from '../../schema/define.ts';
import type { TableRows, Values } from '../../schema/row.ts';
import {
  toolsDaily,
  toolsDailyByMcpServer,
  toolsDailyBySkill,
  toolsDailyBySlashCommand,
  toolsDailyByTool,
  userDaily,
  userDailyLanguages,
} from '../../schema/tables/daily.ts';

/** The rows of one unit, by table. */
export type Unit = readonly TableRows[];

/** Tables of a large unit. */
export const LARGE = [userDaily, userDailyLanguages];

/** Tables of a small unit. */
export const SMALL = [
  toolsDaily,
  toolsDailyByTool,
  toolsDailyByMcpServer,
  toolsDailyBySkill,
  toolsDailyBySlashCommand,
];

/** The columns of a table with their PostgreSQL types, in order. */
export function typedColumns(table: AnyTable): { name: string; type: string }[] {
  return Object.entries(table.columns).map(([name, { kind }]) => ({ name, type: KINDS[kind].postgres }));
}

/** CREATE TABLE as in the warehouse, without autovacuum, which would disturb only some measurements. */
export function createTable(table: AnyTable): string {
  const columns = Object.entries(table.columns).map(([name, { kind }]) => {
    const collation = KINDS[kind].postgres === 'text' && !KINDS[kind].isNullable ? ' COLLATE "C"' : '';
    return `"${name}" ${KINDS[kind].postgres}${collation}${KINDS[kind].isNullable ? '' : ' NOT NULL'}`;
  });
  return (
    `CREATE TABLE "${table.name}" (${columns.join(', ')}, PRIMARY KEY (${table.key.join(', ')})) ` +
    'WITH (autovacuum_enabled = false)'
  );
}

/** The rows of several units by table, each table once. */
export function merged(units: readonly Unit[]): Unit {
  const rows = new Map<AnyTable, Values[]>();
  for (const part of units.flat()) {
    const known = rows.get(part.table) ?? [];
    rows.set(part.table, known);
    known.push(...part.rows);
  }
  return [...rows].map(([table, all]) => ({ table, rows: all }));
}

/** Total number of rows of units. */
export function countRows(units: readonly Unit[]): number {
  return units.flat().reduce((sum, { rows }) => sum + rows.length, 0);
}
