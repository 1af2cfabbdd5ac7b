import { FIRST_DAY, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { readUsersFrom } from '../expected/index.ts';
import { ensureGateKey, joinLists, readKeptOut, withSubjects } from '../kept-out/index.ts';
import { runReads, type Warehouse } from '../port/index.ts';
import { type EmailPolicy, Gate, type KeptOut, NOBODY, saltFingerprint, usersOf } from '../privacy/index.ts';
import { readState, writeState } from '../records/index.ts';

/**
 * The gate for what is stored in a warehouse: its policy, and whom it keeps out. A warehouse with pseudonyms, of users or of
 * dropped addresses in keys of rows, gets a key for them.
 * @param warehouse opened for writing, unless it has a key
 * @param joined lists whose keys come before and after its own, because rows of theirs are stored in it. @default none
 * @param options.hasKeys false if no text becomes the key of a row, so that a dropped address needs no pseudonym. @default true
 * @param options.usersFrom the first day whose people are kept. @default the one of the ledger: what has expired stays so
 * @param options.ledger the warehouse whose rows are to be stored in this one. @default this one
 */
export async function openGate(
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  emails: EmailPolicy,
  {
    before = NOBODY,
    after = NOBODY,
    hasKeys = true,
    usersFrom = null,
    ledger = warehouse,
  }: {
    readonly before?: KeptOut;
    readonly after?: KeptOut;
    readonly hasKeys?: boolean;
    readonly usersFrom?: UtcDay | null;
    readonly ledger?: Pick<Warehouse, 'select'>;
  } = {},
): Promise<Gate> {
  const own = await readKeptOut(warehouse);
  let { keys } = joinLists(before, joinLists(own, after));
  const needsKey = (emails.mode === 'drop' && hasKeys) || usersOf(emails) === 'pseudonym';
  if (needsKey && keys.length === 0) {
    await ensureGateKey(warehouse);
    ({ keys } = await readKeptOut(warehouse));
  }
  const kept = usersFrom ?? (await runReads(ledger, readUsersFrom()));
  const gate = new Gate(emails, { keys: needsKey ? keys : [], usersFrom: kept });
  gate.keepOut(own, null);
  return gate;
}

/**
 * The gate as {@link openGate} would open it, without a trace. Where there is no key yet, pseudonyms are those of this gate only.
 * @param warehouse null if there is none yet
 */
export async function readGate(
  warehouse: Pick<Warehouse, 'select'> | null,
  emails: EmailPolicy,
  { usersFrom = null }: { readonly usersFrom?: UtcDay | null } = {},
): Promise<Gate> {
  const list = warehouse === null ? NOBODY : await readKeptOut(warehouse);
  const kept = usersFrom ?? (warehouse === null ? null : await runReads(warehouse, readUsersFrom()));
  const gate = new Gate(emails, { keys: withSubjects(list, '', [], new Date(0)).keys, usersFrom: kept });
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
