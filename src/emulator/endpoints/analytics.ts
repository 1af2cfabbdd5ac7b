import { GROUP_BY, type UserRow } from '../../contract/index.ts';
import { FIRST_DAY, shiftDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import { DELEGATION, MODELS } from '../dataset/catalog.ts';
import { type Bitset, countBits, createBitset, hasBit, nextBit, uniteBits } from '../dataset/dataset.ts';
import type { Population } from '../dataset/population.ts';
import { hashText, unitOf } from '../dataset/pseudo-random.ts';
import { isRecord } from '../parse.ts';
import type { Quirks } from '../quirks.ts';
import type { World } from '../world.ts';
import { type RowWriter, writeRows } from './envelope.ts';
import { BEFORE_ALL, chooseCursor, choosePaging, selectDays, selectUsers } from './lies.ts';
import { type Query, type RequestedRange, readCursor, readGroupBy, readUsersLimit } from './params.ts';
import {
  type DayView,
  LANGUAGE_NAMES,
  type RowSource,
  rank,
  writeActivityByClientRows,
  writeActivityRows,
  writeProductivityRows,
  writeTokensByModelRows,
  writeTokensRows,
  writeToolsByToolRows,
  writeToolsRows,
} from './rows.ts';

/** The endpoints with rows of the organization. */
type OrgStream = Exclude<DailyStream, 'users'>;

/** The rows of each endpoint without group_by, and with the group_by that it supports. */
const ROWS: Readonly<Record<OrgStream, { plain: RowSource; grouped?: RowSource; groupBy?: string }>> = {
  tokens: { plain: writeTokensRows, grouped: writeTokensByModelRows, groupBy: GROUP_BY.tokens },
  tools: { plain: writeToolsRows, grouped: writeToolsByToolRows, groupBy: GROUP_BY.tools },
  activity: { plain: writeActivityRows, grouped: writeActivityByClientRows, groupBy: GROUP_BY.activity },
  productivity: { plain: writeProductivityRows },
};

/**
 * Responds to /tokens, /tools, /activity or /productivity (specification, section 4.2) with JSON text.
 * @throws {Refusal} 400 for an unsupported group_by or a response that would be too large.
 */
export function answerDaily(world: World, stream: OrgStream, query: Query, range: RequestedRange): string {
  const { plain, grouped, groupBy } = ROWS[stream];
  const quirks = world.quirks();
  const isGrouped = readGroupBy(query, groupBy, quirks) !== null;
  const source = isGrouped ? (grouped ?? plain) : plain;
  const scope = { stream, range };
  const writer = writeRows(world, scope);
  for (const day of selectDays(quirks.lies, scope, world.lastDayWithData(range))) {
    const date = shiftDay(FIRST_DAY, day);
    const given = world.days.rowsOf(stream, date);
    if (given !== null && !isGrouped) {
      given.forEach((json, index) => {
        writer.addText(json, date, index);
      });
      continue;
    }
    const rows =
      given === null
        ? source({ dataset: world.dataset, quirks, day, date })
        : given.flatMap((json) => groupGivenRow(stream, JSON.parse(json)));
    rows.forEach((row, index) => {
      writer.add(row, date, index);
    });
  }
  return writer.finish();
}

/** The names under which the specification may know the model in `by_model`, in the order of their likelihood. */
const MODEL_KEYS = ['model_id', 'model', 'model_name', 'group_key'] as const;

/**
 * Makes the rows with group_by of a row that is given, from its breakdown (specification, section 4.2, group_by rules). A row
 * without the breakdown has none.
 */
function groupGivenRow(stream: OrgStream, row: unknown): object[] {
  if (!isRecord(row)) return [];
  const { date } = row;
  switch (stream) {
    case 'tokens':
      return elementsOf(row['by_model']).flatMap((element) => {
        const key = MODEL_KEYS.find((name) => element[name] !== undefined);
        if (key === undefined) return [];
        const { [key]: group_key, model_tier: _, ...metrics } = element;
        return { date, group_key, ...metrics };
      });
    case 'tools':
      return elementsOf(row['by_tool']).map(({ tool, invocations }) => ({
        date,
        group_key: tool,
        tool_calls: invocations,
      }));
    case 'activity':
      return Object.entries(
        isRecord(row['daily_active_users_by_client']) ? row['daily_active_users_by_client'] : {},
      ).map(([group_key, daily_active_users]) => ({ date, group_key, daily_active_users }));
    case 'productivity':
      return [];
  }
}

function elementsOf(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** What the cursor of an empty page has after the ID of the last user before it. */
const AFTER_EMPTY = '~';
const EMPTY_PAGE_SHARE = 1 / 3;

/** One day of the range with its active users. */
interface ActiveDay {
  readonly view: DayView;
  /** Nobody on a day that is given. */
  readonly active: Bitset;
  /** The rows by user of a day that is given. */
  readonly given: ReadonlyMap<string, readonly string[]> | null;
}

/**
 * Responds to /users (specification, section 4.2) with JSON text: up to `limit` users in the order of their ids, each
 * with one row per active day of the range. The cursor is the last user id of the previous page.
 * @throws {Refusal} 400 for a bad limit or cursor.
 */
export function answerUsers(world: World, query: Query, range: RequestedRange): string {
  const { population } = world.dataset;
  const quirks = world.quirks();
  readGroupBy(query, undefined, quirks);
  const limit = readUsersLimit(query);
  const scope = { stream: 'users', range } as const;
  const sent = readCursor(query, quirks, (cursor) => {
    const known = activeDays(world, scope, range.last);
    return isGivenUser(readPlace(cursor, known).after ?? '', known);
  });
  const days = activeDays(world, scope, world.lastDayWithData(range));
  const place = readPlace(chooseCursor(sent, quirks.lies, scope), days);
  const { after } = place;
  const writer = writeRows(world, scope);
  const size = choosePageSize(world, limit, place);
  const begin = after === null ? 0 : population.firstAfter(after);
  // A page that a quirk makes empty does not repeat a user either.
  if (after !== null && size > 0) repeatUser(quirks, writer, days, { id: after, user: begin - 1 });

  const walk = usersAfter(after, begin, days, population);
  let next = walk.next();
  let final: string | null = null;
  for (let taken = 0; taken < size && next.done !== true; next = walk.next()) {
    const rows = addUser(writer, days, next.value);
    taken += quirks.limitCounts === 'rows' ? rows : 1;
    final = next.value.id;
  }
  const hasMore = next.done !== true;
  const end = { hasMore, cursor: final ?? (hasMore ? place.cursorAfterEmpty : null) };
  return writer.finish(choosePaging(end, sent, quirks, scope));
}

/** A user of a response. The number is -1 for one who is not in the population. */
interface ListedUser {
  readonly id: string;
  readonly user: number;
}

/** Visits the users of the days after a cursor in the order of their ids: generated and given ones. */
function* usersAfter(
  cursor: string | null,
  begin: number,
  days: readonly ActiveDay[],
  population: Population,
): Generator<ListedUser, void, void> {
  const { active, others } = unite(days, population);
  const given = others.filter((id) => cursor === null || id > cursor).sort();
  let place = 0;
  for (let user = nextBit(active, begin); user >= 0; user = nextBit(active, user + 1)) {
    const id = population.idOf(user);
    for (let other = given[place]; other !== undefined && other < id; other = given[place]) {
      yield { id: other, user: -1 };
      place += 1;
    }
    yield { id, user };
  }
  for (const id of given.slice(place)) yield { id, user: -1 };
}

/** The generated users who are active on any of the days, and the ids of given users who are not among them. */
function unite(
  days: readonly ActiveDay[],
  population: Population,
): { readonly active: Bitset; readonly others: readonly string[] } {
  const active = createBitset(population.size);
  for (const day of days) uniteBits(active, day.active);
  const isGenerated = (id: string): boolean => {
    const user = population.firstAfter(id) - 1;
    return user >= 0 && hasBit(active, user) && population.idOf(user) === id;
  };
  const given = new Set(days.flatMap((day) => [...(day.given?.keys() ?? [])]));
  return { active, others: [...given].filter((id) => !isGenerated(id)) };
}

/** Adds the rows of a user and returns their number. */
function addUser(writer: RowWriter, days: readonly ActiveDay[], { id, user }: ListedUser): number {
  let rows = 0;
  for (const { view, active, given } of days) {
    for (const json of given?.get(id) ?? []) {
      writer.addText(json, view.date, hashText(0, id));
      rows += 1;
    }
    if (user < 0 || !hasBit(active, user)) continue;
    writer.add(writeUserRow(view, user), view.date, user);
    rows += 1;
  }
  return rows;
}

/** Computes the number of the requested page in its walk, from 1. Fault rules match it. */
export function usersPageNumber(world: World, query: Query, range: RequestedRange): number {
  const cursor = query.get('cursor');
  if (cursor === null) return 1;
  const { population } = world.dataset;
  const days = activeDays(world, { stream: 'users', range }, range.last);
  const { active, others } = unite(days, population);
  const place = readPlace(cursor, days);
  const after = place.after ?? '';
  const before = countBits(active, population.firstAfter(after)) + others.filter((id) => id <= after).length;
  return 1 + Math.ceil(before / Math.max(1, choosePageSize(world, readUsersLimit(query), place)));
}

/** Where a page of users begins. */
interface Place {
  /** The page has the users whose IDs sort after this text; null: all of them. */
  readonly after: string | null;
  /** The page before was empty. */
  readonly afterEmpty: boolean;
  /**
   * Continues at the same place after an empty page, with another cursor, so that the walk does not see a cursor twice. Null if
   * a given user has this ID.
   */
  readonly cursorAfterEmpty: string | null;
}

/** Reads a cursor: the ID of the last user of the page before, or what an empty page made of it. */
function readPlace(cursor: string | null, days: readonly ActiveDay[]): Place {
  const isUser = (id: string) => isGivenUser(id, days);
  const nextOf = (after: string | null) => (after === null ? BEFORE_ALL : after + AFTER_EMPTY);
  const made = cursor === BEFORE_ALL || cursor?.endsWith(AFTER_EMPTY) === true;
  const afterEmpty = cursor !== null && made && !isUser(cursor);
  const before = cursor === BEFORE_ALL ? null : (cursor?.slice(0, -AFTER_EMPTY.length) ?? null);
  const after = afterEmpty ? before : cursor;
  return { after, afterEmpty, cursorAfterEmpty: isUser(nextOf(after)) ? null : nextOf(after) };
}

/**
 * Chooses the number of users on the page. The same place always gives the same number. Two empty pages never follow
 * each other.
 */
function choosePageSize(world: World, limit: number, place: Place): number {
  const { dataset } = world;
  const quirks = world.quirks();
  const mayBeEmpty = !place.afterEmpty && place.cursorAfterEmpty !== null;
  const draw = hashText(dataset.population.seed, place.after ?? '');
  if (quirks.emptyPageWithMore && mayBeEmpty && unitOf(draw) < EMPTY_PAGE_SHARE) return 0;
  if (quirks.pageSize === null) return Math.min(limit, quirks.usersLimitCap ?? limit);
  const sizes = [quirks.pageSize].flat().filter((size) => size > 0 || mayBeEmpty);
  return sizes[draw % sizes.length] ?? limit;
}

function isGivenUser(id: string, days: readonly ActiveDay[]): boolean {
  return days.some(({ given }) => given?.has(id) === true);
}

/** Repeats the last user of the previous page. Conflicting rows differ in the tool calls. */
function repeatUser(
  quirks: Quirks,
  writer: RowWriter,
  days: readonly ActiveDay[],
  { id, user }: ListedUser,
): void {
  if (quirks.overlappingPages === 'off') return;
  const conflict = quirks.overlappingPages === 'conflicting' ? 1 : 0;
  for (const { view, active, given } of days) {
    for (const json of given?.get(id) ?? []) {
      const row: unknown = JSON.parse(json);
      const calls = isRecord(row) ? row['tool_calls'] : undefined;
      if (conflict === 0 || !isRecord(row)) writer.addText(json, view.date, hashText(0, id));
      else writer.add({ ...row, tool_calls: Number(calls ?? 0) + conflict }, view.date, hashText(0, id));
    }
    if (user < 0 || !hasBit(active, user)) continue;
    const row = writeUserRow(view, user);
    if (row.user_id === id)
      writer.add({ ...row, tool_calls: (row.tool_calls ?? 0) + conflict }, view.date, user);
  }
}

function activeDays(
  world: World,
  scope: { stream: 'users'; range: RequestedRange },
  last: number,
): ActiveDay[] {
  const { dataset } = world;
  const quirks = world.quirks();
  return selectDays(quirks.lies, scope, last).map((day) => {
    const view = { dataset, quirks, day, date: shiftDay(FIRST_DAY, day) };
    const given = world.days.usersOn(view.date);
    if (given !== null) return { view, active: createBitset(0), given };
    const generated = dataset.activeOn(day, 'users');
    const of = { index: day, seed: dataset.population.seed };
    return { view, active: selectUsers(generated, quirks.lies, scope, of), given };
  });
}

/** One row of /users: what an active user did on the day of the view (specification, section 2.4). */
function writeUserRow(view: DayView, user: number): UserRow {
  const { dataset, day, date } = view;
  const facts = dataset.userDay(user, day, 'users');
  const model = MODELS[facts.primaryModel];
  return {
    user_id: dataset.population.idOf(user),
    user_email: dataset.population.emailOf(user, day),
    date,
    tool_calls: facts.toolCalls,
    billable_tokens: facts.billable,
    primary_model: model?.id ?? null,
    primary_model_tier: model?.tier ?? null,
    files_created: facts.filesCreated,
    files_edited: facts.filesEdited,
    git_commits: facts.commits,
    git_prs_created: facts.pullRequests,
    mcp_calls: facts.mcpCalls,
    skill_calls: facts.skillCalls,
    slash_commands: facts.slashCommands,
    hooks: facts.hooks,
    sessions: facts.sessions,
    messages: facts.userMessages + facts.assistantMessages,
    user_messages: facts.userMessages,
    assistant_messages: facts.assistantMessages,
    autonomy_ratio: facts.autonomyRatio / 10_000,
    delegation_level: DELEGATION[facts.delegation] ?? null,
    languages: rank(LANGUAGE_NAMES, facts.languages).map(({ name }) => name),
  };
}
