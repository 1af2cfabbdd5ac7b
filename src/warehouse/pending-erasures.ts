import { sql } from '../../schema/query.ts';
import { isObject, parseJson } from '../core/json.ts';
import type { Warehouse } from './port.ts';

/** Where the plan of an erasure is kept until it is complete, for the organization that it is about. It names the person. */
export const ERASURE = 'erasure';

/** An erasure that is under way or was interrupted, without personal data. */
export interface PendingErasure {
  readonly orgId: string;
  /** An ISO instant. */
  readonly beganAt: string;
}

/** The erasures that have begun in a warehouse and are not complete. */
export async function pendingErasures(warehouse: Pick<Warehouse, 'select'>): Promise<PendingErasure[]> {
  const rows = await warehouse.select(
    sql`SELECT org_id, value FROM export_state WHERE name = ${ERASURE} ORDER BY org_id`,
  );
  return rows.map(({ org_id, value }) => {
    const plan = parseJson(String(value));
    return { orgId: String(org_id), beganAt: isObject(plan) ? String(plan['at']) : '' };
  });
}
