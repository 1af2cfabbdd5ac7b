import { sql } from '../../schema/query.ts';
import { FIRST_DAY } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { isObject, parseJson } from '../core/json.ts';
import { ensureErasedKey, readErased } from '../erased/index.ts';
import type { Warehouse } from '../port/index.ts';
import { type EmailPolicy, GATE_VERSION, Gate, saltFingerprint } from '../privacy/index.ts';
import { readState, writeState } from '../records/index.ts';

/**
 * The gate for what is stored in a warehouse: its policy, and who was erased from it. Where addresses are dropped, the warehouse
 * gets a key for the pseudonyms of those in keys of rows.
 * @param warehouse opened for writing, unless it has a key
 */
export async function openGate(
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  emails: EmailPolicy,
): Promise<Gate> {
  let list = await readErased(warehouse);
  if (emails.mode === 'drop' && list.keys.length === 0) {
    await ensureErasedKey(warehouse);
    list = await readErased(warehouse);
  }
  const gate = new Gate(emails, { key: list.keys[0] ?? null });
  gate.keepOut(list, null);
  return gate;
}

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
  if ((await readState(warehouse, ...PLACE)) !== found) await writeState(warehouse, ...PLACE, found);
}

/**
 * As {@link expectEmailSalt}, but remembers nothing.
 * @throws {UsageError} when the salt is not the remembered one.
 */
export async function checkEmailSalt(warehouse: Warehouse, policy: EmailPolicy): Promise<void> {
  if (policy.mode !== 'hash') return;
  const known = await readState(warehouse, ...PLACE);
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

/** Where it is noted how addresses are stored, and what was the gate. It belongs to the warehouse, not to an organization. */
const POLICY = ['', 'policy'] as const;
const STRENGTH: Readonly<Record<EmailPolicy['mode'], number>> = { keep: 0, hash: 1, drop: 2 };

/**
 * Compares a policy with the one under which a warehouse was filled. After `pass`, everything that is stored is to pass the gate: an
 * older one has let more through. A looser policy is for what is pulled from now on.
 * @throws {UsageError} if it is stricter: a person has chosen it, and has not applied it.
 */
export async function comparePolicy(
  warehouse: Pick<Warehouse, 'read' | 'select' | 'transact' | 'location'>,
  policy: EmailPolicy,
): Promise<'same' | 'pass'> {
  const { mode } = policy;
  const note = parseJson((await readState(warehouse, ...POLICY)) ?? '');
  const { gate = 0, emails: before } = isObject(note) ? note : {};
  const known = before === 'keep' || before === 'hash' || before === 'drop' ? before : null;
  if (known !== null && STRENGTH[mode] > STRENGTH[known]) {
    throw new UsageError(
      `the addresses in ${warehouse.location} are stored under "${known}", and the policy is "${mode}" now`,
      {
        hint: 'apply the policy to what is stored, or set the former one again',
        reason: 'policy-not-applied',
        facts: { former: known },
      },
    );
  }
  if (known === mode && gate === GATE_VERSION) return 'same';
  if (mode !== 'keep' && gate !== GATE_VERSION) {
    const [stored] = await warehouse.select(sql`SELECT 1 AS stored FROM export_units LIMIT 1`);
    if (stored !== undefined) return 'pass';
  }
  await rememberPolicy(warehouse, policy);
  return 'same';
}

/** Notes that everything in a warehouse has passed the gate under a policy. */
export function rememberPolicy(warehouse: Pick<Warehouse, 'transact'>, { mode }: EmailPolicy): Promise<void> {
  return writeState(warehouse, ...POLICY, JSON.stringify({ gate: GATE_VERSION, emails: mode }));
}
