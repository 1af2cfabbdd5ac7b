import { FIRST_DAY } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { saltFingerprint } from '../privacy/email.ts';
import type { EmailPolicy } from '../settings/settings.ts';
import type { Warehouse } from './port.ts';

/** What the warehouse itself remembers, so of no organization. */
const PLACE = ['', 'email_salt'] as const;

/**
 * Checks that emails are hashed with the salt of the hashes that are stored, and remembers the salt of the first ones: a
 * person would have two hashes otherwise. Only a fingerprint of the salt is kept.
 * @param isNew the salt is meant to be another one from now on.
 * @throws {UsageError} when it is another one.
 */
export async function expectEmailSalt(
  warehouse: Warehouse,
  policy: EmailPolicy,
  isNew = false,
): Promise<void> {
  if (policy.mode !== 'hash') return;
  const found = JSON.stringify(saltFingerprint(policy.salt));
  const known = await warehouse.state(...PLACE);
  if (known === found) return;
  if (known !== null && !isNew) {
    throw new UsageError(
      `DAYWALK_EMAIL_SALT is not the salt that the emails in ${warehouse.location} were hashed with`,
      {
        hint: `set the old salt again; or hash all emails anew: daywalk backfill --force --new-email-salt --from ${FIRST_DAY} --until YESTERDAY`,
      },
    );
  }
  await warehouse.setState(...PLACE, found);
}
