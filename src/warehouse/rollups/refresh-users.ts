import { type Dialect, sql } from '../../../schema/query.ts';
import { encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import type { Steps } from '../queries.ts';
import { peopleSha256 } from './people-digest.ts';
import { replace } from './refresh-buckets.ts';
import { PEOPLE_MARK, readStanding, type Standing } from './standing.ts';
import { teamPeriods } from './team-periods.ts';
import { usersOfToday } from './totals.ts';

const encodePeriod = encoderOf(tables.userTeams);
const encodeMark = encoderOf(tables.rollupMarks);

/**
 * Computes `user_teams` and `users` again, from the people and the rollups by month. Run it in one transaction, which
 * may be the one that stores people. If a month is stale, so are they: they get no marks, and false is returned.
 */
export function* refreshUsers(dialect: Dialect, orgId: string): Steps<boolean> {
  const standing = yield* readStanding(orgId);
  const { stale, today } = standing;
  const isCurrent = stale.monthly.length === 0;
  yield sql`DELETE FROM rollup_marks WHERE org_id = ${orgId} AND rollup = 'users'`;
  if (isCurrent) yield* markUsers(orgId, standing);
  yield sql`DELETE FROM user_teams WHERE org_id = ${orgId}`;
  const periods = yield* teamPeriods(orgId, standing);
  if (periods.length > 0) yield { table: tables.userTeams, rows: periods.map(encodePeriod) };
  if (today === null) yield sql`DELETE FROM users WHERE org_id = ${orgId}`;
  else yield* replace(tables.users, orgId, sql`TRUE`, usersOfToday(dialect, orgId, today));
  return isCurrent;
}

function* markUsers(orgId: string, { stored, people }: Standing): Steps<void> {
  const mark = (date: string, sha256: string) =>
    encodeMark({ org_id: orgId, rollup: 'users', date, content_sha256: sha256 });
  const days = stored.map(({ day, contentSha256 }) => mark(day, contentSha256));
  const ofPeople = people.length === 0 ? [] : [mark(PEOPLE_MARK, peopleSha256(people))];
  yield { table: tables.rollupMarks, rows: [...ofPeople, ...days] };
}
