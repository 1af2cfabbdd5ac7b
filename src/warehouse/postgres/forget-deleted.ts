import pg from 'pg';
import type { AnyTable } from '../../../schema/define.ts';
import { KINDS } from '../../../schema/kinds.ts';
import { allTables } from '../../../schema/tables.ts';
import { UsageError } from '../../core/errors.ts';
import type { Value } from '../port.ts';
import type { Link } from './link.ts';
import { changeRows } from './rows.ts';
import { tableIn } from './statements.ts';

/** A row that names nobody, by the types of its columns. */
const EXAMPLES: Readonly<Record<string, Value>> = {
  text: 'none',
  date: '1970-01-01',
  timestamptz: '1970-01-01T00:00:00.000Z',
  'double precision': 0,
  bigint: 0,
  boolean: 0,
  jsonb: '{}',
  json: '{}',
};

/**
 * Measures every table again, see `Warehouse.forgetDeleted`: statistics hold samples of values. PostgreSQL keeps the old
 * statistics of a table that has become empty, so such a table has a row that names nobody while it is measured.
 * @throws {UsageError} if another role owns the tables.
 */
export async function forgetDeleted(link: Link): Promise<void> {
  await expectOwner(link);
  for (const table of allTables) {
    const rows = [{ table, rows: [exampleRow(table)] }];
    const isEmpty = await isEmptyTable(link, table);
    if (isEmpty) await changeRows(link, { put: rows, remove: [] });
    await link.script(`ANALYZE ${tableIn(link, table)}`);
    if (isEmpty) await changeRows(link, { put: [], remove: rows });
  }
}

/** PostgreSQL measures only for the owner, and warns others. */
async function expectOwner(link: Link): Promise<void> {
  const foreign = await link.query(
    `SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'
      AND relname = ANY($2) AND NOT pg_has_role(relowner, 'USAGE') LIMIT 1`,
    [pg.escapeIdentifier(link.schema), allTables.map(({ name }) => name)],
  );
  if (foreign.length === 0) return;
  throw new UsageError(
    'the statistics of PostgreSQL may still hold deleted values: another role owns the tables',
    {
      hint: 'repeat the command as the owner of the schema: it resumes',
    },
  );
}

async function isEmptyTable(link: Link, table: AnyTable): Promise<boolean> {
  const rows = await link.query(`SELECT 1 FROM ${tableIn(link, table)} LIMIT 1`, []);
  return rows.length === 0;
}

function exampleRow(table: AnyTable): Value[] {
  return Object.values(table.columns).map(({ kind }) => EXAMPLES[KINDS[kind].postgres] ?? null);
}
