import { createHash } from 'node:crypto';
import type { AnyTable } from '../../schema/define.ts';
import { type SQL, sql } from '../../schema/query.ts';
import { allTables } from '../../schema/tables.ts';
import { canonicalJson } from '../core/json.ts';
import type { Warehouse } from '../port/index.ts';

const FACTS = allTables.filter(({ role }) => role === 'fact');

/**
 * A SHA-256 over the totals of an organization: for each table of facts and day, the sum of each column.
 * Databases add fractions up in different orders, so sums are rounded to nine digits.
 */
export async function totalsSha256(warehouse: Pick<Warehouse, 'select'>, orgId: string): Promise<string> {
  const hash = createHash('sha256');
  for (const table of FACTS) {
    const rows = await warehouse.select(sumsOf(table, orgId));
    hash.update(`${table.name} ${canonicalJson(rows.map(rounded))}\n`);
  }
  return hash.digest('hex');
}

function sumsOf(table: AnyTable, orgId: string): SQL {
  const metrics = Object.entries(table.columns).filter(([, { additive }]) => additive === true);
  const columns = [
    sql`date`,
    ...metrics.map(([name]) => sql`SUM(${sql.identifier(name)}) AS ${sql.identifier(name)}`),
  ];
  return sql`SELECT ${sql.join(columns, sql`, `)} FROM ${sql.identifier(table.name)} WHERE org_id = ${orgId} GROUP BY date ORDER BY date`;
}

const DIGITS = 9;

function rounded(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'number' && Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : String(value),
    ]),
  );
}
