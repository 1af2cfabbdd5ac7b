import { FIRST_DAY } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { type EmailPolicy, saltFingerprint } from '../privacy/email.ts';
import type { Warehouse } from './port.ts';

/** Where the fingerprint is kept. It belongs to the warehouse, not to an organization. */
const PLACE = ['', 'email_salt'] as const;

/**
 * Makes sure that all hashes in the warehouse use one salt. With two salts, a person would have two hashes. The first
 * salt is remembered as a fingerprint. Does nothing unless emails are hashed.
 * @param isNew replaces the remembered salt with this one.
 * @throws {UsageError} when the salt is not the remembered one.
 */
export async function expectEmailSalt(
  warehouse: Warehouse,
  policy: EmailPolicy,
  isNew = false,
): Promise<void> {
  if (policy.mode !== 'hash') return;
  if (!isNew) await checkEmailSalt(warehouse, policy);
  const found = JSON.stringify(saltFingerprint(policy.salt));
  if ((await warehouse.state(...PLACE)) !== found) await warehouse.setState(...PLACE, found);
}

/**
 * As {@link expectEmailSalt}, but remembers nothing.
 * @throws {UsageError} when the salt is not the remembered one.
 */
export async function checkEmailSalt(warehouse: Warehouse, policy: EmailPolicy): Promise<void> {
  if (policy.mode !== 'hash') return;
  const known = await warehouse.state(...PLACE);
  if (known !== null && known !== JSON.stringify(saltFingerprint(policy.salt))) {
    throw new UsageError(
      `the emails in ${warehouse.location} were hashed with another salt than the one given`,
      {
        hint: 'set the old salt again, or hash all emails anew',
        reason: 'salt-differs',
        facts: { firstDay: FIRST_DAY },
      },
    );
  }
}
