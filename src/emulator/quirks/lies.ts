import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS, STREAMS } from '../../core/stream.ts';
import {
  boolean,
  day,
  either,
  integer,
  listOf,
  number,
  object,
  oneOf,
  type Parsed,
  type Parser,
  refuse,
} from '../input/parse.ts';

const days = listOf(day);

const where = {
  streams: listOf(oneOf(...STREAMS)),
  /** The request covers at least one of these days. */
  days,
  /** The request covers one day, or several. */
  asked: oneOf('day', 'range'),
};
const usersWhere = { days: where.days, asked: where.asked };

/** The requests that a lie applies to. Default: all of them. */
export type Where = { readonly [Field in keyof typeof where]?: Parsed<(typeof where)[Field]> };

const daysByStream = either(
  days,
  object({}, { tokens: days, tools: days, activity: days, productivity: days, users: days }),
  'a list of days, or an object of such lists by stream',
);

/** Days in every stream, or separate days for each stream. */
export type DaysByStream = Parsed<typeof daysByStream>;

const PARTIAL_STATUSES = [202, 203, 206, 226] as const;

/** A status of success that does not promise the whole response. */
export type PartialStatus = (typeof PARTIAL_STATUSES)[number];

const partialStatus: Parser<PartialStatus> = (value, at) =>
  PARTIAL_STATUSES.find((known) => known === value) ?? refuse(at, PARTIAL_STATUSES.join(' or '), value);

/** Reads {@link Lies}. */
export const parseLies = object(
  {},
  {
    /**
     * `meta` names a range that is `shiftDays` later (1 by default) or, if negative, earlier. By default the response
     * has no rows.
     */
    otherRange: object({}, { ...where, shiftDays: integer(-366, 366), rows: oneOf('none', 'kept') }),
    /** These days have no rows in any response. The weekly and monthly counts of other days do not change. */
    lateDays: daysByStream,
    /** The rows of these days are present, and every number in them is 0. */
    zeroDays: daysByStream,
    /** Only this share of the users, always the same ones, is active on these days. Sums and counts agree with it. */
    someUsers: object({ share: number(0, 1) }, { days, streams: listOf(oneOf(...DAILY_STREAMS)) }),
    /**
     * The state on the morning of an earlier day: no later day, report or revision. Numbers are as provisional as they
     * were then.
     */
    rolledBackTo: day,
    /** The readiness list is empty. */
    noReports: boolean,
    /**
     * Responses about several days lack the middle days, a third of the users, a third of each user's days, or all rows.
     */
    ranges: object(
      { drop: oneOf('middle', 'users', 'user-days', 'all') },
      { streams: where.streams, days: where.days },
    ),
    /**
     * Contradictory paging of /users. `has_more` is missing or null on every page, or false although there is a cursor, or
     * true without a cursor; or the last page has a cursor that leads to an empty page.
     */
    paging: object(
      { says: oneOf('flag-missing', 'flag-null', 'flag-false', 'no-cursor', 'cursor-at-end') },
      usersWhere,
    ),
    /**
     * Every page of /users has the rows of the first page: with the same cursor, with new cursors, or with `has_more`
     * false from the second page on.
     */
    samePage: object({ says: oneOf('identical', 'goes-on', 'ends') }, usersWhere),
    /** A status that announces a partial response, with half of the rows by default. */
    partial: object({ status: partialStatus }, { ...where, rows: oneOf('all', 'half', 'none') }),
  },
);

/** Well-formed responses that are wrong. Each field is an independent lie; lies combine. Default: none. */
export type Lies = Parsed<typeof parseLies>;

/** True for a list of days that applies to every stream. */
export function isDayList(days: DaysByStream): days is readonly UtcDay[] {
  return Array.isArray(days);
}
