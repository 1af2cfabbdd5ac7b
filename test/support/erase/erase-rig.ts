import { type ErasureRequest, type ErasureResult, erasePerson } from '../../../jobs/erase.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { contextOf, type Rig } from '../rig/rig.ts';

/** Erases from the warehouse of a rig. */
export function eraseFrom(
  rig: Pick<Rig, 'settings' | 'today'>,
  request: Partial<ErasureRequest>,
  settings: Partial<Settings> = {},
  signal?: AbortSignal,
): Promise<ErasureResult> {
  return erasePerson(
    { ...rig.settings, ...settings },
    { isDryRun: false, wait: false, ...request },
    { ...contextOf(rig.today), ...(signal !== undefined && { signal }) },
  );
}

/** The first user with an email address. */
export async function somebody(
  rig: Pick<Rig, 'sql'>,
): Promise<{ readonly user: string; readonly email: string }> {
  const [found] = await rig.sql<{ user: string; email: string }>(
    'SELECT user_id AS "user", user_email AS email FROM user_daily WHERE user_email IS NOT NULL ORDER BY user_id, date LIMIT 1',
  );
  if (found === undefined) throw new Error('nobody is in the warehouse');
  return found;
}
