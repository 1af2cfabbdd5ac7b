import { groupBy } from '../../core/group-by.ts';
import type { KnownUsers } from '../../warehouse/rollups/known-users.ts';
import { OPEN_END, resolvePeople } from '../../warehouse/rollups/resolve-people.ts';
import { Mistakes } from '../csv/mistakes.ts';
import type { PersonOfLine, StoringPeople } from './stored-people.ts';

/**
 * Refuses lines of which two describe one user on one day: by user ID and by email address, or by two addresses of the
 * user. A line with both tells an address of the user, too.
 * @throws {UsageError} that names file, line and remedy of every mistake.
 */
export function refuseDoubledUsers(
  people: readonly PersonOfLine[],
  { users, emails }: Pick<KnownUsers, 'users' | 'emails'>,
  { orgId, file }: Pick<StoringPeople, 'orgId' | 'file'>,
): void {
  const told = people.flatMap(({ row, email }) =>
    email === null || email === row.person
      ? []
      : [{ user_id: row.person, user_email: email, last_seen_on: '' }],
  );
  const { conflicts } = resolvePeople({
    orgId,
    people: people.map(({ row }) => row),
    emails: [...emails, ...told],
    users: [...new Set([...users, ...told.map(({ user_id }) => user_id)])],
  });
  const linesByPerson = groupBy(people, ({ row }) => row.person);
  const mistakes = new Mistakes(file);
  for (const { user_id, valid_from, person, others } of conflicts) {
    const lines = [person, ...others]
      .flatMap((key) => linesByPerson.get(key) ?? [])
      .filter(({ row }) => row.valid_from <= valid_from && (row.valid_to ?? OPEN_END) >= valid_from)
      .map(({ line }) => line)
      .toSorted((a, b) => a - b);
    const [first, second] = lines;
    if (first === undefined || second === undefined) continue;
    mistakes.add({
      line: second,
      message: `this line and line ${first} both describe the user ${user_id} on ${valid_from}`,
      hint: 'remove one of the lines; if they are different people, give the user_id of each instead of the email address',
    });
  }
  mistakes.refuse();
}
