import type { AnyTable } from '../../schema/define.ts';
import { sql } from '../../schema/query.ts';
import { allTables, tables } from '../../schema/tables.ts';
import { forgetExpected } from '../organizations/index.ts';
import { ERASURE } from '../records/index.ts';
import type { Sweep } from './sweep.ts';

/** Tables that belong to no organization, or that remember what was erased. */
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
