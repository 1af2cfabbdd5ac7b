import { sql } from '../../schema/query.ts';
import { forgetErased } from '../archive/index.ts';
import { canonicalJson } from '../core/json.ts';
import { endSweep, noteErasures, readErased } from '../erased/index.ts';
import type { Certificate } from './certificate.ts';
import type { ErasureOptions } from './options.ts';
import { dropPlan } from './plan.ts';

/**
 * Ends an erasure after everything was swept: the database and the archives forget deleted values, lakes of Delta tables the versions
 * before, the file of erasures gets the list, and the certificate is stored beside the list. May be repeated.
 * @throws {BusyError} while another program reads a SQLite warehouse or an archive.
 */
export async function completeErasure(
  { warehouse, orgId, archives, erasures, renewLakes, ...patience }: ErasureOptions,
  swept: Certificate,
): Promise<Certificate> {
  for (const archive of archives) await forgetErased(archive, patience);
  await warehouse.forgetDeleted();
  if (erasures !== null) noteErasures(erasures, await readErased(warehouse));
  const lakes = await renewLakes(swept.published);
  const published = swept.published.filter((place) => !lakes.includes(place));
  const certificate: Certificate = {
    ...{ ...swept, published },
    ...(lakes.length > 0 && { lakes: [...lakes] }),
    completed_at: patience.clock.now().toISOString(),
  };
  const text = canonicalJson(certificate);
  await warehouse.transact('store the certificate of the erasure in', function* () {
    yield sql`UPDATE erased SET certificate = ${text} WHERE org_id = ${orgId} AND certificate IS NULL`;
    // A repetition has found more of somebody who was erased before.
    for (const pseudonym of certificate.pseudonyms)
      yield sql`UPDATE erased SET certificate = ${text} WHERE org_id = ${orgId} AND pseudonym = ${pseudonym}`;
  });
  await endSweep(warehouse, orgId);
  await dropPlan(warehouse, orgId);
  return certificate;
}
