import { sql } from '../../schema/query.ts';
import { encoderOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { parseJson } from '../core/json.ts';
import { isPseudonym } from '../privacy/pseudonym.ts';
import { listErased } from './erased-list.ts';
import type { Warehouse } from './port.ts';
import type { Steps } from './queries.ts';

/** Where they are kept until they are swept, for each organization. */
const LEARNED = 'erased-addresses';
const encode = encoderOf(tables.exportState);

/** New addresses of erased people in one organization. */
export interface LearnedAddresses {
  readonly orgId: string;
  /** As the email policy stores them. */
  readonly values: readonly string[];
}

/**
 * Puts addresses that came with an erased ID on the list, and remembers them: rows may hold them without the ID. Call it before
 * such rows are committed. May be repeated.
 */
export async function listLearned(
  warehouse: Pick<Warehouse, 'transact' | 'oneAtATime'>,
  { orgId, values }: LearnedAddresses,
  at: Date,
): Promise<void> {
  await warehouse.transact('remember addresses in', function* (): Steps<void> {
    const [row] = yield sql`SELECT value FROM export_state WHERE org_id = ${orgId} AND name = ${LEARNED}`;
    const value = JSON.stringify([...new Set([...addressesIn(row?.['value']), ...values])]);
    yield { table: tables.exportState, rows: [encode({ org_id: orgId, name: LEARNED, value })] };
  });
  const subjects = values.map((value) => ({ kind: 'email' as const, value }));
  await listErased(warehouse, orgId, subjects, at);
}

/** The addresses that are still to be swept. */
export async function readLearned(warehouse: Pick<Warehouse, 'select'>): Promise<LearnedAddresses[]> {
  const rows = await warehouse.select(
    sql`SELECT org_id, value FROM export_state WHERE name = ${LEARNED} ORDER BY org_id`,
  );
  // An erasure that came before has replaced those that it swept.
  return rows.map(({ org_id, value }) => ({
    orgId: String(org_id),
    values: addressesIn(value).filter((address) => !isPseudonym(address)),
  }));
}

/** Forgets the addresses of an organization after they were swept. */
export async function forgetLearned(warehouse: Pick<Warehouse, 'transact'>, orgId: string): Promise<void> {
  await warehouse.transact('forget addresses in', function* () {
    yield sql`DELETE FROM export_state WHERE org_id = ${orgId} AND name = ${LEARNED}`;
  });
}

function addressesIn(text: unknown): string[] {
  const values = typeof text === 'string' ? parseJson(text) : undefined;
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
}
