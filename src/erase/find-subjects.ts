import { type SQL, sql } from '../../schema/query.ts';
import { UsageError } from '../core/errors.ts';
import type { Subject } from '../erased/index.ts';
import { openGate } from '../policy/index.ts';
import type { Warehouse } from '../port/index.ts';
import {
  type EmailPolicy,
  NOBODY,
  normalEmail,
  storedEmail,
  usersOf as usersKept,
} from '../privacy/index.ts';

/** The tables that have both an ID and an address. */
const PAIRED = ['user_daily', 'tokens_daily_by_user'] as const;
/** IDs that a message lists at most. */
const NAMES_MAX = 5;

/** Whom to erase: by the ID, or by an address, as it was received and as the email policy stores it. */
export type Person = { readonly user: string } | { readonly emails: readonly [string, ...string[]] };

/** The person whom a command names, by the ID or an address: both as the service knows them. */
export async function personOf(
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  { user, email = '' }: { readonly user?: string | undefined; readonly email?: string | undefined },
  policy: EmailPolicy,
): Promise<Person> {
  if (user === undefined) {
    const stored = storedEmail(policy, email);
    return { emails: stored === email ? [email] : [email, stored] };
  }
  if (usersKept(policy) !== 'pseudonym') return { user };
  const gate = await openGate(warehouse, policy);
  // Somebody who was erased is looked up by the pseudonym of the time before.
  gate.keepOut(NOBODY, null);
  return { user: gate.userId(user) };
}

/** What is known of a person without a warehouse. */
export function subjectsOf(person: Person): Subject[] {
  if ('user' in person) return [{ kind: 'user', value: person.user }];
  return person.emails.map((value) => ({ kind: 'email', value }));
}

/**
 * The ID of a person and every address that was stored with it.
 * @throws {UsageError} if there is no user with the ID, or if several have had the address.
 */
export async function findSubjects(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  person: Person,
): Promise<Subject[]> {
  if ('user' in person) await expectUser(warehouse, orgId, person.user);
  const users = 'user' in person ? [person.user] : await usersOf(warehouse, orgId, person.emails);
  const [user, ...others] = users;
  if (others.length > 0 && 'emails' in person) {
    const more = users.length > NAMES_MAX ? ` and ${users.length - NAMES_MAX} more` : '';
    throw new UsageError(
      `${person.emails[0]}: ${users.length} users have had this address: ${users.slice(0, NAMES_MAX).join(', ')}${more}`,
      { hint: 'name one of them by the user ID' },
    );
  }
  const emails = user === undefined ? [] : await emailsOf(warehouse, orgId, user);
  if ('emails' in person) emails.push(...person.emails);
  const unique = new Map(emails.map((email) => [normalEmail(email), email]));
  return [
    ...(user === undefined ? [] : [{ kind: 'user' as const, value: user }]),
    ...[...unique.keys()].map((value) => ({ kind: 'email' as const, value })),
  ];
}

/** The number of other users who have had one of the addresses to erase: it is replaced for them too. */
export async function countOthers(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  subjects: readonly Subject[],
): Promise<number> {
  const valuesOf = (kind: Subject['kind']) =>
    subjects.filter((subject) => subject.kind === kind).map(({ value }) => value);
  const emails = valuesOf('email');
  if (emails.length === 0) return 0;
  const own = new Set(valuesOf('user'));
  return (await usersOf(warehouse, orgId, emails)).filter((user) => !own.has(user)).length;
}

/** An ID that is mistyped could be a word that stands everywhere. */
async function expectUser(warehouse: Pick<Warehouse, 'select'>, orgId: string, user: string): Promise<void> {
  const found = await warehouse.select(
    sql`${union((table) => sql`SELECT 1 AS found FROM ${table} WHERE org_id = ${orgId} AND user_id = ${user}`)}
      UNION SELECT 1 AS found FROM people WHERE org_id = ${orgId} AND person = ${user}`,
  );
  if (found.length > 0) return;
  throw new UsageError(`the organization ${orgId} has no user with this ID`, {
    hint: 'check the user ID; nothing was changed',
    ...(user.includes('@') ? { reason: 'address-as-user' } : {}),
  });
}

async function usersOf(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  emails: readonly string[],
): Promise<string[]> {
  const rows = await warehouse.select(
    union(
      (table) =>
        sql`SELECT DISTINCT user_id AS value, user_email AS email FROM ${table} WHERE org_id = ${orgId} AND user_email IS NOT NULL`,
    ),
  );
  const wanted = new Set(emails.map(normalEmail));
  const found = rows.filter((row) => wanted.has(normalEmail(String(row['email']))));
  return [...new Set(found.map((row) => String(row['value'])))].sort();
}

async function emailsOf(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  user: string,
): Promise<string[]> {
  const rows = await warehouse.select(
    union(
      (table) =>
        sql`SELECT DISTINCT user_email AS value FROM ${table} WHERE org_id = ${orgId} AND user_id = ${user} AND user_email IS NOT NULL`,
    ),
  );
  return rows.map((row) => String(row['value'])).sort();
}

function union(select: (table: SQL) => SQL): SQL {
  return sql.join(
    PAIRED.map((table) => select(sql`${sql.identifier(table)}`)),
    sql` UNION `,
  );
}
