import type { AnyTable } from '../../schema/define.ts';
import { type SQL, sql } from '../../schema/query.ts';
import { encoderOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { countWritten, type Steps, type Warehouse } from '../port/index.ts';
import type { UnitKey } from '../units/index.ts';
import { keyColumns } from './unit-rows.ts';

const { restatements } = tables;
const encode = encoderOf(restatements);

/**
 * The number of restatements.
 * @param orgId only those of this organization. @default all
 */
export function countRestatements(warehouse: Pick<Warehouse, 'read'>, orgId?: string): Promise<number> {
  const where = orgId === undefined ? sql`` : sql`WHERE org_id = ${orgId}`;
  return warehouse.read(function* () {
    const [row] = yield sql`SELECT COUNT(*) AS counted FROM restatements ${where}`;
    return Number(row?.['counted'] ?? 0);
  });
}

/**
 * Records a change of the published content of a unit; `before` and `after` are JSON texts, see {@link sumsOf}. Of two in the same
 * millisecond the later one is recorded a millisecond later.
 */
export function* writeRestatement(
  unit: UnitKey,
  at: Date,
  content: { readonly before: string; readonly after: string },
): Steps<void> {
  for (let time = at.getTime(); ; time += 1) {
    const row = encode({ ...keyColumns(unit), detected_at: new Date(time).toISOString(), ...content });
    if ((yield* countWritten({ table: restatements, add: [row] })) > 0) return;
  }
}

/**
 * The text that a restatement stores for the rows of a unit, once for the content before the change and once for the content after
 * it: the number of rows and the sum of each additive column of the first table, the same for each further table under
 * `breakdowns`, and the digest, which shows changes that no sum shows.
 */
export function* sumsOf(
  parts: readonly AnyTable[],
  condition: SQL,
  contentSha256: string | null,
): Steps<string> {
  const sums: [name: string, sums: Readonly<Record<string, number | null>>][] = [];
  for (const table of parts) {
    const [row = {}] = yield selectSums(table, condition);
    const numbers = Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'number' ? value : null,
    ]);
    sums.push([table.name, Object.fromEntries(numbers)]);
  }
  const [main, ...breakdowns] = sums;
  return JSON.stringify({
    ...main?.[1],
    rows: sums.reduce((total, [, numbers]) => total + (numbers['rows'] ?? 0), 0),
    content_sha256: contentSha256,
    breakdowns: Object.fromEntries(breakdowns),
  });
}

/** The number of rows and the sum of each additive column; null if all its values are NULL. */
function selectSums(table: AnyTable, condition: SQL): SQL {
  // SQLite refuses to add huge integers, but not huge numbers.
  const sums = Object.entries(table.columns)
    .filter(([, column]) => column.additive === true)
    .map(([name]) => `, SUM(CAST("${name}" AS DOUBLE PRECISION)) AS "${name}"`);
  return sql`SELECT COUNT(*) AS "rows"${sql.raw(sums.join(''))} FROM ${sql.identifier(table.name)} WHERE ${condition}`;
}
