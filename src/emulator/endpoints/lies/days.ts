import { daysBetween, FIRST_DAY, shiftDay, type UtcDay } from '../../../core/day.ts';
import type { DailyStream, Stream } from '../../../core/stream.ts';
import { addBit, type Bitset, emptyBitset, membersOf } from '../../dataset/bitset.ts';
import { hash, unitOf } from '../../dataset/hash.ts';
import type { DaysByStream, Lies, Where } from '../../quirks/lies.ts';
import type { RequestedRange } from '../params.ts';

/** A request for days of a stream; readiness is asked for without days. */
export interface RequestScope {
  readonly stream: Stream;
  readonly range: RequestedRange | null;
}

/** True when the request is among those that a lie answers. */
export function applies(where: Where, { stream, range }: RequestScope): boolean {
  if (where.streams !== undefined && !where.streams.includes(stream)) return false;
  if (where.asked !== undefined && where.asked !== (isRange(range) ? 'range' : 'day')) return false;
  return (
    where.days === undefined ||
    where.days.some((day) => range !== null && day >= range.startDate && day <= range.endDate)
  );
}

/** True when the day is among those named for the stream. */
export function namesDay(days: DaysByStream | undefined, stream: DailyStream, date: UtcDay): boolean {
  if (days === undefined) return false;
  return (isList(days) ? days : (days[stream] ?? [])).includes(date);
}

/**
 * The days of a range that have rows at all, counted from the first day with data: up to `last`, without those that
 * a lie leaves out.
 */
export function selectDays(
  lies: Lies,
  asked: RequestScope & { stream: DailyStream },
  last: number,
): number[] {
  const { range, stream } = asked;
  if (range === null) return [];
  const drop = droppedFrom(lies, asked);
  if (drop === 'all') return [];
  const middle = drop === 'middle' ? middleOf(range) : null;
  const told: number[] = [];
  for (let day = Math.max(0, range.first); day <= last; day++) {
    const date = shiftDay(FIRST_DAY, day);
    if (lies.rolledBackTo !== undefined && date >= lies.rolledBackTo) break;
    if (namesDay(lies.lateDays, stream, date)) continue;
    if (middle === null || day < middle.first || day > middle.last) told.push(day);
  }
  return told;
}

/** Who of the users active on a day is told of: all of them, unless a range is trimmed by users. */
export function selectUsers(
  active: Bitset,
  lies: Lies,
  asked: RequestScope,
  day: { index: number; seed: number },
): Bitset {
  const drop = droppedFrom(lies, asked);
  if (drop !== 'users' && drop !== 'user-days') return active;
  const told = emptyBitset(active.length * 32);
  for (const user of membersOf(active)) {
    const draw = hash(day.seed, user, ASPECT.trimmed, drop === 'users' ? -1 : day.index);
    if (unitOf(draw) >= TRIMMED_SHARE) addBit(told, user);
  }
  return told;
}

/** The day that `meta` names in place of one that was asked for. */
export function chooseMetaDay(date: UtcDay, lies: Lies, asked: RequestScope): UtcDay {
  const { otherRange } = lies;
  if (otherRange === undefined || !applies(otherRange, asked)) return date;
  return shiftDay(date, otherRange.shiftDays ?? 1);
}

/** Share of the users, or of each user's days, that a trimmed range lacks. */
const TRIMMED_SHARE = 1 / 3;
const ASPECT = { trimmed: 0x7269 } as const;

function droppedFrom({ ranges }: Lies, asked: RequestScope): NonNullable<Lies['ranges']>['drop'] | null {
  if (ranges === undefined || !isRange(asked.range)) return null;
  return applies(ranges, asked) ? ranges.drop : null;
}

/** Three fifths of the range, between its ends. */
function middleOf({ startDate, endDate, first, last }: RequestedRange): { first: number; last: number } {
  const kept = Math.max(1, Math.floor((daysBetween(startDate, endDate) + 1) / 5));
  return { first: first + kept, last: last - kept };
}

function isRange(range: RequestedRange | null): boolean {
  return range !== null && range.last > range.first;
}

function isList(days: DaysByStream): days is readonly UtcDay[] {
  return Array.isArray(days);
}
