import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS, type DailyStream, STREAMS, type Stream } from '../../core/stream.ts';
import {
  boolean,
  day,
  either,
  integer,
  listOf,
  number,
  object,
  oneOf,
  type Parser,
  refuse,
} from '../input/parse.ts';

/** Which requests a lie answers: all of them, unless one of these narrows it down. */
export interface Where {
  readonly streams?: readonly Stream[];
  /** The request asks for at least one of these days. */
  readonly days?: readonly UtcDay[];
  /** The request asks for one day alone, or for several. */
  readonly asked?: 'day' | 'range';
}

/** Days in every stream, or for each stream its own days. */
export type DaysByStream = readonly UtcDay[] | { readonly [S in DailyStream]?: readonly UtcDay[] };

const PARTIAL_STATUSES = [202, 203, 206, 226] as const;

/** A status of success that promises less than the whole answer. */
export type PartialStatus = (typeof PARTIAL_STATUSES)[number];

/** Well-formed answers that are wrong. Each field is a lie of its own; they combine. None by default. */
export interface Lies {
  /** `meta` names a range this many days later (below 0: earlier); 1 by default. By default without rows. */
  readonly otherRange?: Where & { readonly shiftDays?: number; readonly rows?: 'none' | 'kept' };
  /** These days have no rows, whatever is asked: the batch is late, or the data are gone. Trailing counts stay. */
  readonly lateDays?: DaysByStream;
  /** The rows of these days are there, and every number in them is 0. */
  readonly zeroDays?: DaysByStream;
  /** Only this share of the users, always the same ones, is active on the days; sums and counts follow suit. */
  readonly someUsers?: {
    readonly share: number;
    readonly days?: readonly UtcDay[];
    readonly streams?: readonly DailyStream[];
  };
  /** The state of the morning of an earlier day: no later day or report, no later revision, numbers as provisional as then. */
  readonly rolledBackTo?: UtcDay;
  /** The readiness list is empty. */
  readonly noReports?: boolean;
  /** What a request for several days lacks: its middle days, a third of the users, a third of each user's days, or every row. */
  readonly ranges?: Pick<Where, 'streams' | 'days'> & {
    readonly drop: 'middle' | 'users' | 'user-days' | 'all';
  };
  /**
   * Paging of /users that contradicts itself: no `has_more` or null on every page; false beside the cursor of a page
   * with more; true without a cursor; or a cursor beside the false of the last page, which leads to an empty one.
   */
  readonly paging?: Pick<Where, 'days' | 'asked'> & {
    readonly says: 'flag-missing' | 'flag-null' | 'flag-false' | 'no-cursor' | 'cursor-at-end';
  };
  /**
   * Every page of /users has the rows of the first: and is identical to it, goes on under new cursors, or says on
   * the second page that it is the last.
   */
  readonly samePage?: Pick<Where, 'days' | 'asked'> & {
    readonly says: 'identical' | 'goes-on' | 'ends';
  };
  /** A status that is no full answer, with half of the rows unless `rows` says otherwise. */
  readonly partial?: Where & {
    readonly status: PartialStatus;
    readonly rows?: 'all' | 'half' | 'none';
  };
}

const days = listOf(day);
const asked = oneOf('day', 'range');
const streams = listOf(oneOf(...STREAMS));
const where = { streams, days, asked };

const daysByStream: Parser<DaysByStream> = either(
  days,
  object({}, { tokens: days, tools: days, activity: days, productivity: days, users: days }),
  'a list of days, or an object of such lists by stream',
);

const partialStatus: Parser<PartialStatus> = (value, at) =>
  PARTIAL_STATUSES.find((known) => known === value) ?? refuse(at, PARTIAL_STATUSES.join(' or '), value);

/** Reads {@link Lies}. */
export const readLies: Parser<Lies> = object(
  {},
  {
    otherRange: object({}, { ...where, shiftDays: integer(-366, 366), rows: oneOf('none', 'kept') }),
    lateDays: daysByStream,
    zeroDays: daysByStream,
    someUsers: object({ share: number(0, 1) }, { days, streams: listOf(oneOf(...DAILY_STREAMS)) }),
    rolledBackTo: day,
    noReports: boolean,
    ranges: object({ drop: oneOf('middle', 'users', 'user-days', 'all') }, { streams, days }),
    paging: object(
      { says: oneOf('flag-missing', 'flag-null', 'flag-false', 'no-cursor', 'cursor-at-end') },
      { days, asked },
    ),
    samePage: object({ says: oneOf('identical', 'goes-on', 'ends') }, { days, asked }),
    partial: object({ status: partialStatus }, { ...where, rows: oneOf('all', 'half', 'none') }),
  },
);
