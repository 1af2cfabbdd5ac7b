import { daysBetween, FIRST_DAY, shiftDay, type UtcDay } from '../../../core/day.ts';
import type { DailyStream, Stream } from '../../../core/stream.ts';
import { addBit, type Bitset, createBitset, membersOf } from '../../dataset/bitset.ts';
import { hash, unitOf } from '../../dataset/hash.ts';
import { type DaysByStream, isDayList, type Lies, type Where } from '../../quirks/lies.ts';
import type { RequestedRange } from '../params.ts';

/** The stream and days of a request. A request for readiness reports has no days. */
export interface RequestScope {
  readonly stream: Stream;
  readonly range: RequestedRange | null;
}

/** True when the lie applies to the request. */
export function applies(where: Where, { stream, range }: RequestScope): boolean {
  if (where.streams !== undefined && !where.streams.includes(stream)) return false;
  if (where.asked !== undefined && where.asked !== (isSeveralDays(range) ? 'range' : 'day')) return false;
  return (
    where.days === undefined ||
    where.days.some((day) => range !== null && day >= range.startDate && day <= range.endDate)
  );
}

/** True when the list has the day for this stream. */
export function includesDay(days: DaysByStream | undefined, stream: DailyStream, date: UtcDay): boolean {
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
