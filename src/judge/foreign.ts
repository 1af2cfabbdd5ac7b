import { daysBetween, type UtcDay } from '../core/day.ts';

/** So many days are compared at most, up to the newest stored one. */
const DAYS_MAX = 31;
/** With fewer days or fewer people, nothing is decided: a small team can change completely. */
const DAYS_MIN = 3;
const PEOPLE_MIN = 3;
/** An organization is foreign if a smaller share of its rows names someone who is stored on that day. */
const SHARE_MIN = 0.2;

/** A user on a day, as the privacy policy stores the ID. */
export interface UserDay {
  readonly day: UtcDay;
  readonly userId: string;
}

/** What the users of one answer say about the organization. */
export interface UsersVerdict {
  readonly isForeign: boolean;
  /** Distinct users on days that were compared, … */
  readonly rows: number;
  /** … and how many of them are stored on that day. */
  readonly known: number;
  /** The IDs of these users. */
  readonly people: readonly string[];
}

/**
 * The days whose users show whether the service still answers for the same organization: the newest stored ones that one
 * request covers, in the first list, and the ones to request alone if it cannot. Both are empty if too few are stored. They
 * are stored days, not days of the calendar: a warehouse that was restored from a backup has no recent ones.
 * @param stored the days with stored users, in any order.
 * @param rangeDays the longest range that the service allows.
 */
export function daysToCompare(
  stored: readonly UtcDay[],
  rangeDays: number,
): { readonly range: readonly UtcDay[]; readonly alone: readonly UtcDay[] } {
  const sorted = stored.toSorted();
  const last = sorted.at(-1);
  if (last === undefined || sorted.length < DAYS_MIN) return { range: [], alone: [] };
  const daysMax = Math.min(rangeDays, DAYS_MAX);
  const range = sorted.filter((day) => daysBetween(day, last) < daysMax);
  return { range: range.length < DAYS_MIN ? [] : range, alone: sorted.slice(-DAYS_MIN) };
}

/**
 * Decides whether the users of an answer are those of another organization. The answer and the storage are compared day by
 * day, so neither new nor former staff count as strangers, and the order of the rows does not matter.
 * @param answered distinct users of the answer, on days that were compared.
 * @param stored which of them are stored on that day.
 */
export function judgeUsers(
  answered: readonly UserDay[],
  stored: (userDay: UserDay) => boolean,
): UsersVerdict {
  const days = new Set(answered.map(({ day }) => day));
  const people = new Set(answered.map(({ userId }) => userId));
  const known = answered.filter(stored).length;
  const isForeign = days.size >= DAYS_MIN && people.size >= PEOPLE_MIN && known < SHARE_MIN * answered.length;
  return { isForeign, rows: answered.length, known, people: [...people] };
}

/** True if an answer is about the organization that was refused: enough of its users are those of the refused answer. */
export function areRefused(people: readonly string[], wasRefused: (userId: string) => boolean): boolean {
  return people.filter(wasRefused).length >= SHARE_MIN * people.length;
}

/** True if so few people are stored that strangers beside them prove nothing. */
export function areTooFew(people: number): boolean {
  return people < PEOPLE_MIN;
}
