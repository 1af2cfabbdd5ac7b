import { sql } from '../../schema/query.ts';
import { dueSweeps, erasedOrganization, readErased } from '../erased/index.ts';
import { forgetLearned, pendingErasures, readLearned } from '../records/index.ts';
import { erase } from './erase.ts';
import type { ErasureOptions } from './options.ts';
import { planErasure, readPlan } from './plan.ts';

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
  await sweepDue(given);
}

/** As {@link sweepLearned}, for everybody whom a warehouse knows from an archive, or an archive from a warehouse. */
async function sweepDue(given: Omit<ErasureOptions, 'orgId'>): Promise<void> {
  const { warehouse } = given;
  for (const orgId of await dueSweeps(warehouse)) {
    const pending = await readPlan(warehouse, orgId);
    if (pending !== null) await erase({ ...given, orgId }, pending.plan);
    await eraseListed({ ...given, orgId });
  }
}

/** Sweeps everybody of an organization who is on the list. */
async function eraseListed(options: ErasureOptions): Promise<void> {
  const isOrganization = erasedOrganization(await readErased(options.warehouse), options.orgId) !== undefined;
  await erase(options, await planErasure(options, [], { isOrganization }));
}

/**
 * Completes every erasure that has begun in a warehouse, and sweeps everyone who is on its list and was not swept. After a kill, a
 * repetition resumes.
 * @throws {BusyError} while another program reads a SQLite warehouse; a repetition resumes.
 */
export async function sweepListed(given: Omit<ErasureOptions, 'orgId'>): Promise<void> {
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
}
