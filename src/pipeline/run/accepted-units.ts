import { tables } from '../../../schema/tables.ts';
import type { Warehouse } from '../../warehouse/port.ts';

/** Names of the units of an organization that have records in quarantine, of which a person has accepted every one. */
export async function acceptedUnits(warehouse: Warehouse, orgId: string): Promise<Set<string>> {
  const accepted = new Set<string>();
  const open = new Set<string>();
  const columns = ['stream', 'date', 'accepted_at'];
  for await (const rows of warehouse.scan(tables.quarantine, { orgId }, columns)) {
    for (const [stream, day, acceptedAt] of rows) {
      (acceptedAt === null ? open : accepted).add(`${stream} ${day}`);
    }
  }
  return new Set([...accepted].filter((name) => !open.has(name)));
}
