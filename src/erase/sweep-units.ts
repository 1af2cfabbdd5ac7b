import { contentSha256 } from '../../schema/digest.ts';
import { sql } from '../../schema/query.ts';
import { columnsOf, decoderOf, type TableRows } from '../../schema/row.ts';
import { tables, tablesOf } from '../../schema/tables.ts';
import { isDay, type UtcDay } from '../core/day.ts';
import { DAILY_STREAMS, type Stream } from '../core/stream.ts';
import { sweptTable } from '../erased/index.ts';
import { rewrittenRow } from '../ledger/index.ts';
import { changeRows } from '../port/index.ts';
import { mayHold } from './holds-value.ts';
import type { Sweep } from './sweep.ts';

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
