import { sql } from '../../schema/query.ts';
import { BusyError, UsageError } from '../core/errors.ts';
import { isObject, parseJson } from '../core/json.ts';
import type { Warehouse } from '../port/index.ts';
import { type EmailPolicy, GATE_VERSION, type Gate, usersOf } from '../privacy/index.ts';
import { readState, writeState } from '../records/index.ts';

/** Where it is noted how people are stored, and what was the gate. It belongs to the warehouse, not to an organization. */
const POLICY = ['', 'policy'] as const;

/** The policy under which everything in a warehouse or an archive has passed the gate, as it is noted there: without the salt. */
export interface NotedPolicy {
  /** Null if none is noted. */
  readonly emails: EmailPolicy['mode'] | null;
  readonly users: ReturnType<typeof usersOf>;
}

type Readable = Pick<Warehouse, 'read'>;
type Writable = Pick<Warehouse, 'read' | 'transact' | 'location'>;

const STRENGTH = { keep: 0, hash: 1, drop: 2 } as const;
const USER_STRENGTH = { keep: 0, pseudonym: 1, none: 2 } as const;

/** Reads a note; what cannot be read is not noted. */
export function notedPolicyIn(note: unknown): NotedPolicy {
  const { emails, users } = isObject(note) ? note : {};
  return {
    emails: isIn(STRENGTH, emails) ? emails : null,
    users: isIn(USER_STRENGTH, users) ? users : 'keep',
  };
}

function isIn<Names extends object>(names: Names, name: unknown): name is keyof Names {
  return typeof name === 'string' && Object.hasOwn(names, name);
}

/**
 * Makes sure that nothing is stored in a place that a policy would not keep.
 * @throws {UsageError} if the policy is stricter than the noted one: a person has chosen it, and has not applied it.
 */
export function expectApplied(noted: NotedPolicy, policy: EmailPolicy, place: string): void {
  const { mode } = policy;
  const users = usersOf(policy);
  if (noted.emails === null) return;
  if (STRENGTH[mode] > STRENGTH[noted.emails])
    throw notApplied('addresses', place, { former: noted.emails, asked: mode });
  if (USER_STRENGTH[users] > USER_STRENGTH[noted.users])
    throw notApplied('users', place, { former: noted.users, asked: users });
}

function notApplied(
  what: 'addresses' | 'users',
  place: string,
  { former, asked }: { readonly former: string; readonly asked: string },
): UsageError {
  return new UsageError(
    `the ${what} in ${place} are stored under "${former}", and the policy is "${asked}" now`,
    {
      hint: 'apply the policy to what is stored, or set the former one again',
      reason: 'policy-not-applied',
      facts: { former, what },
    },
  );
}

/**
 * True if a warehouse keeps less of people than another one, as both note it.
 * @param gate what its rows pass on their way into the other one; null if they pass none
 */
export async function keepsLess(
  warehouse: Readable & Pick<Warehouse, 'select'>,
  other: Readable,
  gate: Pick<Gate, 'emails' | 'users'> | null,
): Promise<boolean> {
  const theirs = await notedPolicy(other);
  const passed = gate === null ? [] : [{ emails: gate.emails, users: gate.users, gate: GATE_VERSION }];
  const keepsOut = await keepsSomebodyOut(warehouse);
  return [await notedPolicy(warehouse), ...passed].some((own) => isStricter(own, theirs, keepsOut));
}

/** An older version of the gate has let more through. @param keepsOut it looks for somebody, whatever the policy is */
function isStricter(own: Passed, theirs: Passed, keepsOut = false): boolean {
  const emails = STRENGTH[own.emails ?? 'keep'];
  return (
    emails > STRENGTH[theirs.emails ?? 'keep'] ||
    USER_STRENGTH[own.users] > USER_STRENGTH[theirs.users] ||
    ((keepsOut || emails > STRENGTH.keep) && own.gate > theirs.gate)
  );
}

/** What is noted of the policy of a warehouse, and the version of its gate. */
interface Passed extends NotedPolicy {
  readonly gate: number;
}

interface Noted extends Passed {
  /** The policy that is being applied; null if none is, or if something was stored under a looser one since. */
  readonly passing: NotedPolicy | null;
}

/** The policy under which a warehouse was filled. */
async function notedPolicy(warehouse: Readable): Promise<Noted> {
  const note = parseJson((await readState(warehouse, ...POLICY)) ?? '');
  const { gate, passing } = isObject(note) ? note : {};
  return {
    ...{ ...notedPolicyIn(note), gate: typeof gate === 'number' ? gate : 0 },
    passing: isObject(passing) ? notedPolicyIn(passing) : null,
  };
}

/**
 * The policy under which a warehouse was filled.
 * @throws {UsageError} if the given one is stricter: a person has chosen it, and has not applied it; or if IDs shall take the place
 * of pseudonyms: a person who had one would be two.
 */
export async function expectPolicy(
  warehouse: Pick<Warehouse, 'read' | 'location'>,
  policy: EmailPolicy,
): Promise<Noted> {
  const users = usersOf(policy);
  const known = await notedPolicy(warehouse);
  expectApplied(known, policy, warehouse.location);
  expectPseudonyms(known, users, warehouse.location);
  return known;
}

/**
 * Makes sure that a person is looked up as the warehouse has them: under another policy, nothing would be found of a hash or a pseudonym.
 * @throws {UsageError} if it has hashes or pseudonyms, and the given policy makes none
 */
export async function expectStoredAs(
  warehouse: Pick<Warehouse, 'read' | 'location'>,
  policy: EmailPolicy,
  what: 'addresses' | 'users',
): Promise<void> {
  const known = await notedPolicy(warehouse);
  const [former, asked] = what === 'users' ? [known.users, usersOf(policy)] : [known.emails, policy.mode];
  if (former === asked || (former !== 'hash' && former !== 'pseudonym')) return;
  throw new UsageError(`the ${what} in ${warehouse.location} are stored under "${former}", not "${asked}"`, {
    hint: 'ask under the policy under which they are stored, with its salt',
    ...{ reason: 'policy-differs', facts: { former, what } },
  });
}

function expectPseudonyms(known: Noted, users: NotedPolicy['users'], place: string): void {
  if (known.users !== 'pseudonym' || users !== 'keep') return;
  throw new UsageError(`the users in ${place} have pseudonyms, from which no ID comes back`, {
    hint: 'keep the policy of users, or export into a new warehouse',
  });
}

/**
 * Compares a policy with the one under which a warehouse was filled. After `pass`, everything that is stored is to pass the gate: an
 * older one has let more through. A looser policy is for what is pulled from now on.
 * @throws {UsageError} as {@link expectPolicy}
 */
export async function comparePolicy(
  warehouse: Pick<Warehouse, 'read' | 'select' | 'transact' | 'location'>,
  policy: EmailPolicy,
): Promise<'same' | 'pass'> {
  const { mode } = policy;
  const users = usersOf(policy);
  const known = await expectPolicy(warehouse, policy);
  if (known.emails === mode && known.users === users && known.gate === GATE_VERSION) return 'same';
  const isPassed = known.gate === GATE_VERSION || (mode === 'keep' && !(await keepsSomebodyOut(warehouse)));
  if (!isPassed && (await mayNameAnyone(warehouse))) return 'pass';
  await rememberPolicy(warehouse, policy);
  return 'same';
}

/** True if a person was erased: the gate looks for them under any policy. */
async function keepsSomebodyOut(warehouse: Pick<Warehouse, 'select'>): Promise<boolean> {
  const rows = await warehouse.select(
    sql`SELECT 1 AS found FROM erased WHERE kind <> 'organization' LIMIT 1`,
  );
  return rows.length > 0;
}

/** True if a warehouse has rows that may name somebody. */
export async function mayNameAnyone(warehouse: Pick<Warehouse, 'select'>): Promise<boolean> {
  const rows = await warehouse.select(sql`SELECT 1 AS stored WHERE EXISTS (SELECT 1 FROM export_units) OR
    EXISTS (SELECT 1 FROM hook_events) OR EXISTS (SELECT 1 FROM sessions) OR EXISTS (SELECT 1 FROM people)`);
  return rows.length > 0;
}

/** Notes that everything in a warehouse has passed the gate under a policy. */
function rememberPolicy(warehouse: Pick<Warehouse, 'transact'>, policy: EmailPolicy): Promise<void> {
  return note(warehouse, { gate: GATE_VERSION, emails: policy.mode, users: usersOf(policy) });
}

/**
 * Notes that a policy is being applied to everything in a warehouse. Whoever stores something under a looser one meanwhile takes this
 * note away.
 * @throws {UsageError} if IDs shall take the place of pseudonyms
 */
export async function beginPassing(warehouse: Writable, policy: EmailPolicy): Promise<void> {
  const [known, users] = [await notedPolicy(warehouse), usersOf(policy)];
  expectPseudonyms(known, users, warehouse.location);
  await note(warehouse, { ...known, passing: { emails: policy.mode, users } });
}

/**
 * As {@link rememberPolicy}, after {@link beginPassing}.
 * @throws {BusyError} if something was stored under a looser policy meanwhile
 */
export async function endPassing(warehouse: Writable, policy: EmailPolicy): Promise<void> {
  if ((await notedPolicy(warehouse)).passing !== null) return rememberPolicy(warehouse, policy);
  const message = `something was stored in ${warehouse.location} under a looser policy meanwhile`;
  throw new BusyError(message, { hint: 'repeat the command' });
}

/**
 * Notes that everything in a warehouse has passed a gate besides what is noted: the stricter of both holds.
 * @param gate null if nothing has passed one
 */
export async function noteStricter(
  warehouse: Readable & Pick<Warehouse, 'transact'>,
  gate: Pick<Gate, 'emails' | 'users'> | null,
): Promise<void> {
  if (gate === null) return;
  const known = await notedPolicy(warehouse);
  const isNotedStricter = isStricter({ ...known, gate: 0 }, { ...gate, gate: 0 });
  await note(warehouse, {
    gate: isNotedStricter ? known.gate : GATE_VERSION,
    emails: STRENGTH[known.emails ?? 'keep'] > STRENGTH[gate.emails] ? (known.emails ?? 'keep') : gate.emails,
    users: USER_STRENGTH[known.users] > USER_STRENGTH[gate.users] ? known.users : gate.users,
  });
}

function note(
  warehouse: Pick<Warehouse, 'transact'>,
  { gate, emails, users, passing }: Passed & Partial<Pick<Noted, 'passing'>>,
): Promise<void> {
  const noted = { gate, emails, ...(users !== 'keep' && { users }), ...(passing && { passing }) };
  return writeState(warehouse, ...POLICY, JSON.stringify(noted));
}

/**
 * Notes that something in a warehouse has passed a gate, if that is looser than what is noted: a run under the former policy is refused
 * then. Call it before anything is stored that does not come from a run, and again after it: a policy that was applied meanwhile may
 * not have reached it.
 * @throws {UsageError} if IDs shall take the place of pseudonyms
 */
export async function noteLooser(
  warehouse: Writable,
  { emails, users }: Pick<Gate, 'emails' | 'users'>,
): Promise<void> {
  const known = await notedPolicy(warehouse);
  if (known.emails === null) return note(warehouse, { gate: known.gate, emails, users });
  expectPseudonyms(known, users, warehouse.location);
  const looser = {
    gate: known.gate,
    emails: STRENGTH[emails] < STRENGTH[known.emails] ? emails : known.emails,
    users: USER_STRENGTH[users] < USER_STRENGTH[known.users] ? users : known.users,
  };
  const isPassingStricter =
    known.passing !== null && isStricter({ gate: 0, ...known.passing }, { gate: 0, emails, users });
  if (isPassingStricter || isStricter(known, looser)) await note(warehouse, looser);
}
