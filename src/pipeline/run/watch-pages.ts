import type { AnyTable } from '../../../schema/define.ts';
import { decodeRows } from '../../../schema/digest.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import { compareUtf8, readerOf, type Values } from '../../../schema/row.ts';
import { tables, tablesOf } from '../../../schema/tables.ts';
import type { AnalyticsPage } from '../../api/index.ts';
import { daysBetween, FIRST_DAY, shiftDay, type UtcDay } from '../../core/day.ts';
import { isObject } from '../../core/json.ts';
import { BadRequestError } from '../../http/index.ts';
import { selectRows } from '../held-rows.ts';
import { type DayBatch, rangeOf } from '../plan.ts';
import { type PullCall, pullUsersPage, type Source } from '../pull.ts';
import { expectAnswerTo } from '../validate.ts';
import { type CollectedDay, collectDays } from './prepare-batch.ts';
import type { Sample } from './watch.ts';
import { type ComparisonOptions, isRefusal } from './watch-comparisons.ts';

/** At most this many users of a page are compared; a page has 100. */
const USERS_MAX = 200;

export interface PagesOptions extends ComparisonOptions {
  /** The UTC day on which the run began. */
  readonly today: UtcDay;
}

/**
 * Compares one page of users of each stretch that the run does not compare in full, another page each time: a wrong answer
 * that touches few users of all days is seen long before the stretch has its turn. Days on which the page differs are
 * compared in all streams. After a refusal, the run compares no more pages.
 * @param daysMax maximum number of days per request. Of a longer stretch, another part is compared each night.
 */
export async function lookAtPages(options: PagesOptions, daysMax: number): Promise<void> {
  const { watch, outcomes, signal } = options;
  try {
    for (const sample of watch.samples) {
      if (signal.aborted) return;
      await lookAtPage(options, sample, daysMax);
    }
  } catch (error) {
    if (!isRefusal(error)) outcomes.recordFailedLook('users', error);
  }
}

async function lookAtPage(options: PagesOptions, sample: Sample, daysMax: number): Promise<void> {
  const { watch } = options;
  const batch = partOf(sample.days, daysMax, options.today);
  if (batch === null) return;
  const asked = sample.cursor === '' ? undefined : sample.cursor;
  const { page, cursor } = await requestPage(options, batch, asked);
  const { days, isReadable } = readPage(options, batch, page);
  const found = isReadable ? await differingDays(options, { page, days, cursor }) : new Set<string>();
  watch.recordSample(
    sample,
    sample.days.filter((day) => found.has(day)),
    storedCursor(page, options.source),
  );
}

/** The days of a page. */
export function readPage({ orgId }: PagesOptions, batch: DayBatch, page: AnalyticsPage) {
  expectAnswerTo(page, orgId, batch);
  const collected = collectDays(batch, { orgId });
  const isReadable = collected.add(page) === 0;
  const all = collected.finish();
  // A key that is held keeps what is stored, so the answer for it differs.
  const days = all.filter(({ day }) => day.findings.held.length === 0);
  return { days, isReadable, isWhole: isReadable && days.length === all.length };
}

/** Spreads the numbers of consecutive nights, so that no part always comes with the same page. */
const SPREAD = 0x9e3779b1;

/** The days of a stretch that one request may cover; another part in most nights. Null for a stretch without days. */
function partOf(days: readonly UtcDay[], daysMax: number, today: UtcDay): DayBatch | null {
  const sorted = days.toSorted();
  const [first] = sorted;
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) return null;
  const parts = Math.ceil((daysBetween(first, last) + 1) / daysMax);
  // Pages take turns, too: with as many parts, the numbers of nights alone would never bring some of the pairs.
  const spread = Math.imul(daysBetween(FIRST_DAY, today) + 1, SPREAD) >>> 16;
  const from = shiftDay(first, (spread % parts) * daysMax);
  const to = shiftDay(from, daysMax - 1);
  return rangeOf('users', from, to < last ? to : last);
}

/** The page at a cursor; page 1 if the service refuses the cursor. */
async function requestPage(
  { source, signal }: PagesOptions,
  batch: DayBatch,
  cursor: string | undefined,
): Promise<{ readonly page: AnalyticsPage; readonly cursor: string | undefined }> {
  const call: PullCall = { signal, meter: { requests: 0, retries: 0 } };
  try {
    return { page: await pullUsersPage(source, batch, cursor, call), cursor };
  } catch (error) {
    if (cursor === undefined || !(error instanceof BadRequestError)) throw error;
    return { page: await pullUsersPage(source, batch, undefined, call), cursor: undefined };
  }
}

function nextCursor({ meta }: AnalyticsPage): string | undefined {
  return meta.has_more === true && typeof meta.next_cursor === 'string' ? meta.next_cursor : undefined;
}

/** The cursor of the next page, which is the ID of a user: unless it may not be stored. Then page 1 is asked for again. */
function storedCursor(page: AnalyticsPage, source: Source): string | undefined {
  const cursor = nextCursor(page);
  return isReplaced(source, cursor) ? undefined : cursor;
}

/** True if something else is stored in place of the ID of a user. */
function isReplaced({ gate }: Source, userId: string | undefined): boolean {
  return userId !== undefined && gate.userId(userId) !== userId;
}

const userOf = readerOf(tables.userDaily, 'user_id');

/** A page of users, by day. */
interface ComparedPage {
  readonly page: AnalyticsPage;
  readonly days: readonly CollectedDay[];
  /** Where the page begins. @default it is page 1 */
  readonly cursor: string | undefined;
}

/** The days on which the stored rows of the page's users differ, or on which a stored user lacks who belongs on the page. */
async function differingDays(options: PagesOptions, compared: ComparedPage): Promise<Set<string>> {
  const { warehouse, orgId } = options;
  const { days } = compared;
  const onPage = new Set(days.flatMap(({ day }) => usersOf(day)));
  const users = [...onPage].toSorted(compareUtf8).slice(0, USERS_MAX);
  const differing = await daysWithOtherRows(options, days, users);
  const range = rangeOfDays(orgId, days);
  const span = spanOf(options, compared, users);
  if (range === null || span === null || onPage.size > USERS_MAX) return differing;
  const others = users.length === 0 ? sql`` : sql` AND user_id NOT IN (${listOf(users)})`;
  const lacking = await warehouse.select(
    sql`SELECT DISTINCT CAST(date AS TEXT) AS day FROM user_daily WHERE ${range}${others}${span}`,
  );
  for (const { day } of lacking) differing.add(String(day));
  return differing;
}

/** The days on which the stored rows of some users differ from those of a page. */
export async function daysWithOtherRows(
  { warehouse, orgId }: PagesOptions,
  days: readonly CollectedDay[],
  users: readonly string[],
): Promise<Set<string>> {
  const differing = new Set<string>();
  const range = rangeOfDays(orgId, days);
  if (range === null) return differing;
  const isAmong = new Set(users);
  for (const table of users.length === 0 ? [] : tablesOf('users')) {
    const [dateOf, idOf] = [readerOf<AnyTable>(table, 'date'), readerOf<AnyTable>(table, 'user_id')];
    const rows = await selectRows(warehouse, table, sql`${range} AND user_id IN (${listOf(users)})`);
    const stored = Map.groupBy(rows, (row) => String(dateOf(row)));
    for (const { day } of days) {
      const own = rowsOf(day, table).filter((row) => isAmong.has(String(idOf(row))));
      if (textOf(own) !== textOf(stored.get(day.unit.day) ?? [])) differing.add(day.unit.day);
    }
  }
  return differing;
}

/** The users who have a row on a day of a page. */
export function usersOf(day: CollectedDay['day']): string[] {
  return rowsOf(day, tables.userDaily).map((row) => String(userOf(row)));
}

function rangeOfDays(orgId: string, days: readonly CollectedDay[]): SQL | null {
  const first = days[0]?.day.unit.day;
  const last = days.at(-1)?.day.unit.day;
  if (first === undefined || last === undefined) return null;
  return sql`org_id = ${orgId} AND date >= ${first} AND date <= ${last}`;
}

function listOf(users: readonly string[]): SQL {
  return sql.join(
    users.map((userId) => sql`${userId}`),
    sql`, `,
  );
}

/**
 * The users who belong on a page: all if it is the only one. Otherwise, if it is in order, those from its cursor to its last
 * user. Null if that is not known, also where IDs are stored as pseudonyms, which have another order.
 */
function spanOf(
  { source }: PagesOptions,
  { page, cursor }: ComparedPage,
  users: readonly string[],
): SQL | null {
  const [first] = users;
  const last = users.at(-1);
  const hasMore = page.meta.has_more === true;
  if (cursor === undefined && !hasMore) return sql``;
  if (first === undefined || last === undefined || !isInOrder(page.data)) return null;
  if (isReplaced(source, cursor) || isReplaced(source, nextCursor(page))) return null;
  if (cursor !== undefined && compareUtf8(cursor, first) > 0) return null;
  const after = cursor === undefined ? sql`` : sql` AND user_id > ${cursor}`;
  return hasMore ? sql`${after} AND user_id <= ${last}` : after;
}

/** True if the users of each day come in the order of their IDs. The specification promises no order. */
function isInOrder(rows: readonly unknown[]): boolean {
  const newest = new Map<unknown, string>();
  for (const row of rows) {
    if (!isObject(row) || typeof row['user_id'] !== 'string') return false;
    const before = newest.get(row['date']);
    if (before !== undefined && compareUtf8(before, row['user_id']) > 0) return false;
    newest.set(row['date'], row['user_id']);
  }
  return true;
}

function rowsOf({ tables: parts }: CollectedDay['day'], table: AnyTable): readonly Values[] {
  const part = parts.find((each) => each.table === table);
  return part === undefined ? [] : decodeRows(part).rows;
}

function textOf(rows: readonly Values[]): string {
  return rows
    .map((row) => JSON.stringify(row))
    .toSorted()
    .join('\n');
}
