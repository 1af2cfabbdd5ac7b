import { sql } from '../../schema/query.ts';
import { forgetLearned, pendingErasures, readLearned } from '../records/index.ts';
import { erase, eraseListed, planErasure } from './erase.ts';
import type { ErasureOptions } from './options.ts';
import { readPlan } from './plan.ts';

/**
 * Sweeps the addresses that runs have found with erased people: rows of other streams may hold them without the ID. An erasure
 * of the same organization that was interrupted is completed first. After a kill, the next call resumes.
 * @throws {BusyError} while another program reads a SQLite warehouse; a repetition resumes.
 */
export async function sweepLearned(given: Omit<ErasureOptions, 'orgId'>): Promise<void> {
  const { warehouse } = given;
  for (const { orgId, values } of await readLearned(warehouse)) {
    const options: ErasureOptions = { ...given, orgId };
    const pending = await readPlan(warehouse, orgId);
    if (pending !== null) await erase(options, pending.plan);
    const subjects = values.map((value) => ({ kind: 'email' as const, value }));
    if (subjects.length > 0) await erase(options, await planErasure(options, subjects));
    await forgetLearned(warehouse, orgId);
  }
}

/**
 * Completes every erasure that has begun in a warehouse, and sweeps everyone who is on its list and was not swept. After a kill, a
 * repetition resumes. Returns how many organizations were swept.
 * @throws {BusyError} while another program reads a SQLite warehouse; a repetition resumes.
 */
export async function sweepListed(given: Omit<ErasureOptions, 'orgId'>): Promise<number> {
  const { warehouse } = given;
  const begun = await pendingErasures(warehouse);
  for (const { orgId } of begun) {
    const pending = await readPlan(warehouse, orgId);
    if (pending !== null) await erase({ ...given, orgId }, pending.plan);
  }
  const rows = await warehouse.select(
    sql`SELECT DISTINCT org_id FROM erased WHERE certificate IS NULL ORDER BY org_id`,
  );
  for (const row of rows) await eraseListed({ ...given, orgId: String(row['org_id']) });
  return begun.length + rows.length;
}
