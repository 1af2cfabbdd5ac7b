import { listOf, type SQL, sql } from '../../schema/query.ts';
import { tables } from '../../schema/tables.ts';
import { isDay, shiftDay } from '../core/day.ts';
import type { QueryRow, Steps } from '../port/index.ts';
import { OPEN_END, type TeamPeriod } from './resolve-people.ts';
import { type Standing, storedOf } from './standing.ts';

/** Days on which a user has another team than before. */
interface Move {
  readonly user: string;
  readonly from: string;
  readonly to: string;
}

/** With more users or more rows to look for, every day of the moves is computed again. */
const USERS_MAX = 1_000;
const LOOKUPS_MAX = 200_000;

/**
 * Takes the marks of `team_daily` and `team_model_daily` from the days on which users with another team than before have rows, so
 * that these days are computed again. Run it in the transaction that writes the periods.
 * @param before rows of `user_teams`.
 */
export function* unmarkMoves(
  orgId: string,
  standing: Standing,
  { before, after }: { readonly before: readonly QueryRow[]; readonly after: readonly TeamPeriod[] },
): Steps<void> {
  const moves = movesBetween(before, after);
  const users = [...moves.keys()];
  const spans = [...moves.values()].flat();
  const [first] = spans.map(({ from }) => from).toSorted();
  const last = spans
    .map(({ to }) => to)
    .toSorted()
    .at(-1);
  if (first === undefined || last === undefined) return;
  const isMoved = ({ user_id, date }: QueryRow) =>
    moves.get(String(user_id))?.some(({ from, to }) => from <= String(date) && String(date) <= to);
  for (const [rollup, table] of [
    ['teams', tables.userDaily],
    ['models', tables.tokensDailyByUserModel],
  ] as const) {
    const stored = storedOf(standing, rollup).map(({ day }) => day);
    let days: unknown[] = stored.filter((day) => first <= day && day <= last);
    if (users.length <= USERS_MAX && users.length * days.length <= LOOKUPS_MAX && days.length > 0) {
      // Each row is found by the key.
      const rows = yield sql`
        SELECT DISTINCT date, user_id FROM ${sql.identifier(table.name)}
        WHERE org_id = ${orgId} AND date IN (${valuesOf(days)}) AND user_id IN (${valuesOf(users)})`;
      days = [...new Set(rows.filter(isMoved).map(({ date }) => date))];
    }
    if (days.length === 0) continue;
    yield sql`
      DELETE FROM rollup_marks WHERE org_id = ${orgId} AND rollup = ${rollup} AND date IN (${valuesOf(days)})`;
  }
}

function valuesOf(values: readonly unknown[]): SQL {
  return listOf(values.map((value) => sql`${value}`));
}

/** The moves of each user. */
function movesBetween(before: readonly QueryRow[], after: readonly TeamPeriod[]): Map<string, Move[]> {
  const [was, is] = [before, after].map((rows) =>
    Map.groupBy<unknown, QueryRow>(rows, ({ user_id }) => user_id),
  );
  const moves = new Map<string, Move[]>();
  for (const user of new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])) {
    const own = movesOf(String(user), was?.get(user) ?? [], is?.get(user) ?? []);
    if (own.length > 0) moves.set(String(user), own);
  }
  return moves;
}

function movesOf(user: string, before: readonly QueryRow[], after: readonly QueryRow[]): Move[] {
  const starts = new Set<string>();
  for (const { valid_from, valid_to } of [...before, ...after]) {
    starts.add(String(valid_from));
    if (isDay(valid_to) && valid_to !== OPEN_END) starts.add(shiftDay(valid_to, 1));
  }
  const sorted = [...starts].toSorted();
  return sorted.flatMap((from, index) => {
    if (teamOn(from, before) === teamOn(from, after)) return [];
    const next = sorted[index + 1];
    return [{ user, from, to: isDay(next) ? shiftDay(next, -1) : OPEN_END }];
  });
}

function teamOn(day: string, periods: readonly QueryRow[]): unknown {
  const period = periods.find(
    ({ valid_from, valid_to }) => String(valid_from) <= day && day <= String(valid_to),
  );
  return period?.['team'] ?? null;
}
