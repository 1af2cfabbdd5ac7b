import { sql } from '../../../schema/query.ts';
import { UsageError } from '../../core/errors.ts';
import { nearestName } from '../../core/nearest.ts';
import { teamsInPlaceOfTable } from '../../metrics/query/rows.ts';
import { PHRASES, withSql } from '../../metrics/query/select.ts';
import { OPEN_END } from '../../warehouse/rollups/resolve-people.ts';
import type { PageReader } from './reader.ts';
import type { Result } from './result.ts';

/** Who a user is, over all stored days. */
export interface PersonFacts {
  readonly firstActiveOn: string;
  readonly lastActiveOn: string;
  /** Addresses seen so far, the latest first. */
  readonly emails: readonly { readonly email: string; readonly first: string; readonly last: string }[];
  /** Teams over time, the latest first; `until` is null if the period has no end. */
  readonly teams: readonly TeamTime[];
  readonly results: readonly Result[];
}

/** A time in which a user is a person of `people`. */
export interface TeamTime {
  readonly team: string | null;
  readonly name: string | null;
  readonly from: string;
  readonly until: string | null;
}

/**
 * Reads who a user is.
 * @throws {UsageError} if no row is of the user; the hint names the user who has this email address, or a similar ID.
 */
export async function readPerson(reader: PageReader, userId: string): Promise<PersonFacts> {
  const { orgId } = reader.filters;
  const emails = await reader.select({
    title: 'Email addresses and days with activity',
    query: sql`SELECT user_email, MIN(date) AS first_day, MAX(date) AS last_day
FROM user_daily
WHERE org_id = ${orgId} AND user_id = ${userId}
GROUP BY user_email
ORDER BY last_day DESC, first_day, user_email`,
    streams: ['users'],
  });
  if (emails.rows.length === 0) throw await noSuchPerson(reader, userId);
  const teams = await readTeams(reader, userId);
  const days = emails.rows.map((row) => ({
    email: textOf(row['user_email']),
    first: String(row['first_day']),
    last: String(row['last_day']),
  }));
  return {
    firstActiveOn: days.map(({ first }) => first).toSorted()[0] ?? '',
    lastActiveOn: days[0]?.last ?? '',
    emails: days.flatMap(({ email, ...seen }) => (email === null ? [] : { email, ...seen })),
    teams: teams.rows.map((row) => ({
      team: textOf(row['team']),
      name: textOf(row['name']),
      from: String(row['valid_from']),
      until: row['valid_to'] === OPEN_END ? null : String(row['valid_to']),
    })),
    results: [emails, teams],
  };
}

async function readTeams({ warehouse, filters, select }: PageReader, userId: string): Promise<Result> {
  const { orgId } = filters;
  const main = sql`SELECT t.valid_from, t.valid_to, t.team, p.name
FROM user_teams t
LEFT JOIN people p ON p.org_id = ${orgId} AND p.person = t.person
  AND t.valid_from >= p.valid_from AND (p.valid_to IS NULL OR t.valid_from <= p.valid_to)
WHERE t.org_id = ${orgId} AND t.user_id = ${userId}
ORDER BY t.valid_from DESC`;
  const query = withSql(await teamsInPlaceOfTable(warehouse, orgId), main);
  return select({ title: 'Teams over time', query, streams: ['users'] });
}

/** Longer texts are no misspelt IDs. */
const COMPARED_CHARACTERS_MAX = 200;

async function noSuchPerson({ warehouse, filters }: PageReader, userId: string): Promise<UsageError> {
  const { sortable } = PHRASES[warehouse.dialect];
  const known = await warehouse.select(
    sql`SELECT user_id, user_email FROM users WHERE org_id = ${filters.orgId} ORDER BY ${sortable(sql`user_id`)}`,
  );
  const wanted = userId.toLowerCase();
  const byEmail = known.find(({ user_email }) => String(user_email ?? '').toLowerCase() === wanted);
  const ids = known.map(({ user_id }) => String(user_id));
  const nearest =
    byEmail === undefined
      ? userId.length > COMPARED_CHARACTERS_MAX
        ? undefined
        : nearestName(
            userId,
            ids.filter(({ length }) => length <= COMPARED_CHARACTERS_MAX),
          )
      : String(byEmail['user_id']);
  const shown =
    userId.length > COMPARED_CHARACTERS_MAX ? `${userId.slice(0, COMPARED_CHARACTERS_MAX)}…` : userId;
  return new UsageError(`no row is of the user "${shown}"`, {
    hint: nearest === undefined ? 'the page of people has the ID of each user' : `did you mean ${nearest}?`,
  });
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
