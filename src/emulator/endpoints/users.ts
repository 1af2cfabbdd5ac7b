import { FIRST_DAY, shiftDay } from '../../core/day.ts';
import { type Bitset, countBits, createBitset, hasBit, nextBit, uniteBits } from '../dataset/bitset.ts';
import { hashText, unitOf } from '../dataset/hash.ts';
import type { Quirks } from '../quirks/quirks.ts';
import type { World } from '../world/world.ts';
import { BEFORE_ALL } from './cursors.ts';
import { type RowWriter, writeRows } from './envelope.ts';
import { selectDays, selectUsers } from './lies/days.ts';
import { chooseCursor, choosePaging } from './lies/paging.ts';
import { type Query, type RequestedRange, readCursor, readGroupBy, readUsersLimit } from './params.ts';
import { writeUserRow } from './rows/users.ts';
import type { DayView } from './rows/view.ts';

/** Length of a user id. A longer cursor comes from an empty page. */
const USER_ID_CHARS = 'user_'.length + 26;
const EMPTY_PAGE_SHARE = 1 / 3;

/** One day of the range with its active users. */
interface ActiveDay {
  readonly view: DayView;
  readonly active: Bitset;
}

/**
 * Responds to /users (specification, section 4.2) with JSON text: up to `limit` users in the order of their ids, each
 * with one row per active day of the range. The cursor is the last user id of the previous page.
 * @throws {Refusal} 400 for a bad limit or cursor.
 */
export function answerUsers(world: World, query: Query, range: RequestedRange): string {
  const { dataset } = world;
  const quirks = world.quirks();
  readGroupBy(query, undefined, quirks);
  const limit = readUsersLimit(query);
  const scope = { stream: 'users', range } as const;
  const sent = readCursor(query, quirks);
  const cursor = chooseCursor(sent, quirks.lies, scope);
  const days = activeDays(world, scope);
  const active = createBitset(dataset.population.size);
  for (const day of days) uniteBits(active, day.active);
  const writer = writeRows(world, scope);
  const size = choosePageSize(world, limit, cursor);
  const begin = cursor === null ? 0 : dataset.population.firstAfter(cursor);
  // A page that a quirk makes empty does not repeat a user either.
  if (cursor !== null && begin > 0 && size > 0) repeatUser(quirks, writer, days, begin - 1);

  let user = nextBit(active, begin);
  let final = -1;
  for (let taken = 0; taken < size && user >= 0; ) {
    let rows = 0;
    for (const { view, active } of days) {
      if (!hasBit(active, user)) continue;
      writer.add(writeUserRow(view, user), view.date, user);
      rows += 1;
    }
    taken += quirks.limitCounts === 'rows' ? rows : 1;
    final = user;
    user = nextBit(active, user + 1);
  }
  const next = final < 0 ? continueAfterEmptyPage(cursor) : dataset.population.idOf(final);
  const hasMore = user >= 0;
  const end = { hasMore, cursor: hasMore || final >= 0 ? next : null };
  return writer.finish(choosePaging(end, sent, quirks.lies, scope));
}

/** Computes the number of the requested page in its walk, from 1. Fault rules match it. */
export function usersPageNumber(world: World, query: Query, range: RequestedRange): number {
  const cursor = query.get('cursor');
  if (cursor === null) return 1;
  const active = world.dataset.activeWithin(range.first, range.last, 'users');
  const before = countBits(active, world.dataset.population.firstAfter(cursor));
  return 1 + Math.ceil(before / Math.max(1, choosePageSize(world, readUsersLimit(query), cursor)));
}

/**
 * Chooses the number of users on the page. The same cursor always gives the same number. Two empty pages never follow
 * each other.
 */
function choosePageSize(world: World, limit: number, cursor: string | null): number {
  const { dataset } = world;
  const quirks = world.quirks();
  const afterEmpty = cursor === BEFORE_ALL || (cursor?.length ?? 0) > USER_ID_CHARS;
  const draw = hashText(dataset.population.seed, cursor ?? '');
  if (quirks.emptyPageWithMore && !afterEmpty && unitOf(draw) < EMPTY_PAGE_SHARE) return 0;
  if (quirks.pageSize === null) return Math.min(limit, quirks.usersLimitCap ?? limit);
  const sizes = [quirks.pageSize].flat().filter((size) => size > 0 || !afterEmpty);
  return sizes[draw % sizes.length] ?? limit;
}

/** Continues at the same place with another cursor, so that the walk does not see a cursor twice. */
function continueAfterEmptyPage(cursor: string | null): string {
  return cursor === null ? BEFORE_ALL : `${cursor}0`;
}

/** Repeats the last user of the previous page. Conflicting rows differ in the tool calls. */
function repeatUser(quirks: Quirks, writer: RowWriter, days: readonly ActiveDay[], user: number): void {
  if (quirks.overlappingPages === 'off') return;
  const conflict = quirks.overlappingPages === 'conflicting' ? 1 : 0;
  for (const { view, active } of days) {
    if (!hasBit(active, user)) continue;
    const row = writeUserRow(view, user);
    writer.add({ ...row, tool_calls: (row.tool_calls ?? 0) + conflict }, view.date, user);
  }
}

function activeDays(world: World, scope: { stream: 'users'; range: RequestedRange }): ActiveDay[] {
  const { dataset } = world;
  const quirks = world.quirks();
  return selectDays(quirks.lies, scope, world.lastDayWithData(scope.range)).map((day) => ({
    view: { dataset, quirks, day, date: shiftDay(FIRST_DAY, day) },
    active: selectUsers(dataset.activeOn(day, 'users'), quirks.lies, scope, {
      index: day,
      seed: dataset.population.seed,
    }),
  }));
}
