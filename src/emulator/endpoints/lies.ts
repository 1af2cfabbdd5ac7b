import type { Invariant } from '../../../schema/invariants.ts';
import type { ReadinessReport } from '../../contract/index.ts';
import { daysBetween, FIRST_DAY, shiftDay, type UtcDay } from '../../core/day.ts';
import type { DailyStream, Stream } from '../../core/stream.ts';
import { addBit, type Bitset, createBitset, membersOf } from '../dataset/dataset.ts';
import { hash, hashText, unitOf } from '../dataset/pseudo-random.ts';
import { isRecord } from '../parse.ts';
import {
  type DaysByStream,
  IMPOSSIBLE,
  isDayList,
  type Lies,
  type PartialStatus,
  type Quirks,
  type Where,
} from '../quirks.ts';
import type { RequestedRange } from './params.ts';

/** The stream and days of a request. A request for readiness reports has no days. */
interface RequestScope {
  readonly stream: Stream;
  readonly range: RequestedRange | null;
}

/** True when the lie applies to the request. */
function applies(where: Where, { stream, range }: RequestScope): boolean {
  if (where.streams !== undefined && !where.streams.includes(stream)) return false;
  if (where.asked !== undefined && where.asked !== (isSeveralDays(range) ? 'range' : 'day')) return false;
  return (
    where.days === undefined ||
    where.days.some((day) => range !== null && day >= range.startDate && day <= range.endDate)
  );
}

/** True when the list has the day for this stream. */
function includesDay(days: DaysByStream | undefined, stream: DailyStream, date: UtcDay): boolean {
  if (days === undefined) return false;
  return (isDayList(days) ? days : (days[stream] ?? [])).includes(date);
}

/** Selects the days of a range up to `last` that have rows, without those that a lie removes. */
export function selectDays(
  lies: Lies,
  scope: RequestScope & { stream: DailyStream },
  last: number,
): number[] {
  const { range, stream } = scope;
  const drop = findDroppedPart(lies, scope);
  if (range === null || drop === 'all') return [];
  const middle = drop === 'middle' ? middleOf(range) : null;
  const days: number[] = [];
  for (let day = Math.max(0, range.first); day <= last; day++) {
    const date = shiftDay(FIRST_DAY, day);
    if (lies.rolledBackTo !== undefined && date >= lies.rolledBackTo) break;
    if (includesDay(lies.lateDays, stream, date)) continue;
    if (middle === null || day < middle.first || day > middle.last) days.push(day);
  }
  return days;
}

/** Selects the users of a day that a response shows: all active ones, unless a lie removes users from ranges. */
export function selectUsers(
  active: Bitset,
  lies: Lies,
  scope: RequestScope,
  day: { index: number; seed: number },
): Bitset {
  const drop = findDroppedPart(lies, scope);
  if (drop !== 'users' && drop !== 'user-days') return active;
  const shown = createBitset(active.length * 32);
  for (const user of membersOf(active)) {
    const draw = hash(day.seed, user, ASPECT.trimmed, drop === 'users' ? -1 : day.index);
    if (unitOf(draw) >= TRIMMED_SHARE) addBit(shown, user);
  }
  return shown;
}

/** Chooses the day that `meta` names instead of a requested one. */
export function chooseMetaDay(date: UtcDay, { otherRange }: Lies, scope: RequestScope): UtcDay {
  if (otherRange === undefined || !applies(otherRange, scope)) return date;
  return shiftDay(date, otherRange.shiftDays ?? 1);
}

/** Share of the users, or of each user's days, that a trimmed range lacks. */
const TRIMMED_SHARE = 1 / 3;
const ASPECT = { trimmed: 0x7269 } as const;

function findDroppedPart({ ranges }: Lies, scope: RequestScope): NonNullable<Lies['ranges']>['drop'] | null {
  return ranges !== undefined && isSeveralDays(scope.range) && applies(ranges, scope) ? ranges.drop : null;
}

/** The middle three fifths of the range. */
function middleOf({ startDate, endDate, first, last }: RequestedRange): { first: number; last: number } {
  const kept = Math.max(1, Math.floor((daysBetween(startDate, endDate) + 1) / 5));
  return { first: first + kept, last: last - kept };
}

function isSeveralDays(range: RequestedRange | null): boolean {
  return range !== null && range.last > range.first;
}

/** Chooses the status of a successful response: 200, unless a lie makes it partial. */
export function chooseStatus({ partial }: Lies, scope: RequestScope): 200 | PartialStatus {
  return partial !== undefined && applies(partial, scope) ? partial.status : 200;
}

/** Selects the rows or reports that a response keeps. */
export function selectRecords<T>(
  records: readonly T[],
  { partial, otherRange }: Lies,
  scope: RequestScope,
): readonly T[] {
  if (otherRange !== undefined && otherRange.rows !== 'kept' && applies(otherRange, scope)) return [];
  if (partial === undefined || !applies(partial, scope) || partial.rows === 'all') return records;
  return records.slice(0, partial.rows === 'none' ? 0 : Math.floor(records.length / 2));
}

/** What a response shows for a row, on days that a lie names: zeros or impossible values, and the row twice. */
export function falsifyRow(
  row: object,
  { zeroDays, impossible, twice }: Lies,
  { stream, date }: { stream: DailyStream; date: UtcDay },
): readonly object[] {
  const isImpossible = impossible !== undefined && impossible.days?.includes(date) !== false;
  const shown = includesDay(zeroDays, stream, date)
    ? setToZero(row)
    : isImpossible
      ? falsify(row, stream, impossible.column)
      : row;
  const isTwice = twice !== undefined && (twice.streams?.includes(stream) ?? true);
  return isTwice && twice.days?.includes(date) !== false ? repeat(shown) : [shown];
}

/** A row, and once more with another number. */
function repeat(row: object): readonly object[] {
  const [number] = Object.entries(row).find(([, value]) => typeof value === 'number') ?? [];
  return number === undefined ? [row] : [row, { ...row, [number]: Reflect.get(row, number) + 1 }];
}

/** A readiness report as a response shows it. */
export function falsifyReport(report: ReadinessReport, { impossible }: Lies): object {
  return impossible === undefined ? report : falsify(report, 'readiness', impossible.column);
}

/** Makes a column of all records of its table impossible. An answer without such records stays as it is. */
function falsify(row: object, stream: Stream, column: string): object {
  const invariant = IMPOSSIBLE.get(column);
  if (invariant === undefined || invariant.table.stream !== stream || !isRecord(row)) return row;
  return falsifyInside(row, invariant.table.inside ?? [], (record) => violate(record, invariant, row));
}

/** Changes the elements of the list or map that the fields lead to. */
function falsifyInside(
  record: Readonly<Record<string, unknown>>,
  [field, ...fields]: readonly string[],
  change: (element: unknown) => unknown,
): Record<string, unknown> {
  if (field === undefined) return change(record) as Record<string, unknown>;
  const changed = (element: unknown) =>
    fields.length > 0 && isRecord(element) ? falsifyInside(element, fields, change) : change(element);
  const list = record[field];
  if (Array.isArray(list)) return { ...record, [field]: list.map(changed) };
  if (!isRecord(list)) return { ...record };
  const entries = Object.entries(list).map(([key, element]) => [key, changed(element)]);
  return { ...record, [field]: Object.fromEntries(entries) };
}

/** The record, or plain number, with a value beyond its bound. */
function violate(
  record: unknown,
  { table, column, relation, bound }: Invariant,
  row: Readonly<Record<string, unknown>>,
): unknown {
  const isSame = typeof bound !== 'number' && bound.table === table;
  const source = isSame && isRecord(record) ? record : row;
  const limit = Number(typeof bound === 'number' ? bound : (source[bound.column] ?? 0));
  const value = relation === '≥' ? limit - 1 : limit + 1;
  if (!isRecord(record)) return value;
  return column in record ? { ...record, [column]: value } : record;
}

function setToZero(record: object): object {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]: [string, unknown]) => {
      if (typeof value === 'number') return [key, 0];
      if (Array.isArray(value)) return [key, []];
      return [key, isRecord(value) ? setToZero(value) : value];
    }),
  );
}

/** The paging fields in `meta` of /users. A field that is undefined is left out. */
export interface Paging {
  readonly has_more: boolean | null | undefined;
  readonly next_cursor: string | null | undefined;
}

/** Where an honest page ends. */
interface PageEnd {
  readonly hasMore: boolean;
  /** The cursor that continues here; null after a last page without users. */
  readonly cursor: string | null;
}

/** Chooses the cursor that selects the rows: that of the request, or none if every page shows the first rows. */
export function chooseCursor(sent: string | null, { samePage }: Lies, scope: RequestScope): string | null {
  return samePage !== undefined && applies(samePage, scope) ? null : sent;
}

/** Chooses the paging that a page shows. `sent` is the cursor of the request. */
export function choosePaging(
  end: PageEnd,
  sent: string | null,
  { lies: { samePage, paging }, lastCursor }: Pick<Quirks, 'lies' | 'lastCursor'>,
  scope: RequestScope,
): Paging {
  const none = lastCursor === 'null' ? null : undefined;
  const honest = { has_more: end.hasMore, next_cursor: end.hasMore ? end.cursor : none };
  if (samePage !== undefined && sent !== null && applies(samePage, scope)) {
    if (samePage.says === 'ends') return { has_more: false, next_cursor: none };
    if (samePage.says === 'goes-on') return { has_more: true, next_cursor: endlessCursor(sent) };
  }
  if (paging === undefined || !applies(paging, scope)) return honest;
  switch (paging.says) {
    case 'flag-missing':
      return { ...honest, has_more: undefined };
    case 'flag-null':
      return { ...honest, has_more: null };
    case 'flag-false':
      return { ...honest, has_more: false };
    case 'no-cursor':
      return { ...honest, next_cursor: none };
    case 'cursor-at-end':
      return { ...honest, next_cursor: end.cursor };
  }
}

/** A cursor that sorts before every user id, so that the walk starts again. It is not a user id. */
export const BEFORE_ALL = 'user_0';

/** Derives a new cursor from the cursor of the request. It sorts after every user id, so all further pages are empty. */
export function endlessCursor(sent: string): string {
  return `user_~${hashText(1, sent)}-${hashText(2, sent)}`;
}
