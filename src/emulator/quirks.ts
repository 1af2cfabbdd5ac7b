import { type Invariant, invariantsOf } from '../../schema/invariants.ts';
import { allTables } from '../../schema/tables.ts';
import type { UtcDay } from '../core/day.ts';
import { DAILY_STREAMS, STREAMS } from '../core/stream.ts';
import {
  boolean,
  day,
  either,
  integer,
  isRecord,
  listOf,
  number,
  object,
  oneOf,
  orNull,
  type Parsed,
  type Parser,
  refuse,
  text,
} from './parse.ts';
import { deriveJwt } from './request.ts';

const days = listOf(day);
/** A request without a credential must not have this one. */
const credential: Parser<string> = (value, at) =>
  typeof value === 'string' && value !== '' ? value : refuse(at, 'a string that is not empty', value);

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

/** What an answer may violate, by the column that is changed. Of a column with two bounds, another column is the one. */
export const IMPOSSIBLE: ReadonlyMap<string, Invariant> = new Map(
  allTables
    .flatMap(invariantsOf)
    .filter(({ severity }) => severity === 'impossible')
    .map((invariant) => [`${invariant.table.name}.${invariant.column}`, invariant]),
);

const PARTIAL_STATUSES = [202, 203, 206, 226] as const;

/** A status of success that does not promise the whole response. */
export type PartialStatus = (typeof PARTIAL_STATUSES)[number];

const partialStatus: Parser<PartialStatus> = (value, at) =>
  PARTIAL_STATUSES.find((known) => known === value) ?? refuse(at, PARTIAL_STATUSES.join(' or '), value);

/** Reads {@link Lies}. */
const parseLies = object(
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
    /** Values of a column that cannot be true, in all of its records that have the field. Days do not apply to reports. */
    impossible: object({ column: oneOf(...IMPOSSIBLE.keys()) }, { days }),
    /** Every row of these days comes twice, the second time with another number. */
    twice: object({}, { days, streams: listOf(oneOf(...DAILY_STREAMS)) }),
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

const PAGE_SIZE_MAX = 100_000;
const share = number(0, 1);
const pageSize = integer(0, PAGE_SIZE_MAX);

const rateLimit = object(
  {},
  {
    requestsPerMinute: integer(1),
    /** Requests accepted at once before the rate applies. Default: the requests of one minute. */
    burst: integer(1),
    /** Maximum number of requests in progress. */
    inFlight: integer(1),
    /** The form of Retry-After. Default `seconds`. */
    retryAfter: oneOf('seconds', 'date', 'garbage', 'absent'),
  },
);

/** Responds with 429 above a rate. Requests with a valid key are counted. */
export type RateLimitQuirk = Parsed<typeof rateLimit>;

/** The default of a quirk, and the parser of its values. */
type Quirk<T> = Parser<T> & { readonly initial: T };

function quirk<T>(initial: NoInfer<T>, parse: Parser<T>): Quirk<T> {
  return Object.assign((value: unknown, at: string) => parse(value, at), { initial });
}

/** Every quirk with its default and its accepted values. */
const QUIRKS = {
  /** The key that names the model in `by_model` elements. */
  modelKey: quirk('model_id', oneOf('model_id', 'model', 'model_name', 'group_key')),
  /** `by_model` elements have `model_tier`. */
  modelTier: quirk(true, boolean),
  /** `by_model` elements and rows by model have the cache metrics. */
  cacheFields: quirk(false, boolean),
  /** The key that names the user in `by_user` elements. */
  userKey: quirk('user_id', oneOf('user_id', 'user', 'id', 'group_key')),
  /** `by_user` has a nested `by_model`, has none, or is itself absent. */
  byUser: quirk('nested', oneOf('nested', 'flat', 'absent')),
  /** A day without activity has no row, or a row of zeros. Days before the first day with data never have a row. */
  emptyDays: quirk('absent', oneOf('absent', 'zeros')),
  /** Days on which nobody is active. */
  inactiveDays: quirk([], listOf(day)),
  /** Longest range of one request in days; a longer one gets 400. Null: no limit. */
  maxRangeDays: quirk(null, orNull(integer(1, 10_000))),
  /** Longest response in characters; a range that needs more gets 400. This bounds the emulator's memory. */
  maxAnswerChars: quirk(64 * 1024 * 1024, integer(1_000, 256 * 1024 * 1024)),
  /** Days before the first day with data are empty, or a range that starts there gets 400. */
  beforeEpoch: quirk('empty', oneOf('empty', 'reject')),
  /** An unsupported group_by gets 400, or is ignored. */
  unsupportedGroupBy: quirk('reject', oneOf('reject', 'ignore')),
  /** Days up to this age are provisional: their numbers change from day to day, and some users are missing. */
  provisionalDays: quirk(0, integer(0, 365)),
  /** Yesterday has no data yet: always (true), or for this many requests that cover it. */
  lateBatch: quirk(false, either(boolean, integer(0), 'true, false or a number of requests')),
  /** What the limit of /users counts over several days. With `rows`, the last user's rows are still complete. */
  limitCounts: quirk('users', oneOf('users', 'rows')),
  /** The server's own maximum for the limit of /users. */
  usersLimitCap: quirk(null, orNull(integer(1, PAGE_SIZE_MAX))),
  /** Replaces the limit of /users: this many users per page, or one of these numbers, chosen by the cursor. */
  pageSize: quirk(
    null,
    orNull(either(pageSize, listOf(pageSize), 'a number of users, a list of numbers, or null')),
  ),
  /** Some pages of /users are empty although more follow. */
  emptyPageWithMore: quirk(false, boolean),
  /** Each page of /users repeats the last user of the previous page, with the same numbers or with different ones. */
  overlappingPages: quirk('off', oneOf('off', 'identical', 'conflicting')),
  /** `next_cursor` on the last page of /users. */
  lastCursor: quirk('absent', oneOf('absent', 'null')),
  /** A cursor that is not a user id: the walk continues after that text, or gets 400. */
  unknownCursor: quirk('resume', oneOf('resume', 'reject')),
  /** Share of metrics that are null or absent. */
  nullMetrics: quirk(0, share),
  /** Every object of a response has an undocumented field. */
  unknownFields: quirk(false, boolean),
  /** There is a client type that the specification does not name. */
  newClientType: quirk(false, boolean),
  /** Readiness reports have criteria that did not exist before. */
  newCriteria: quirk(false, boolean),
  /** Share of criteria that were skipped; their numerator is null. */
  nullNumerators: quirk(0, share),
  /** Maximum number of reports per page of the readiness list; also the default limit. */
  readinessLimitCap: quirk(100, integer(1, PAGE_SIZE_MAX)),
  /** Order of the readiness list. */
  readinessOrder: quirk('newest', oneOf('newest', 'oldest', 'shuffled')),
  /** The readiness path redirects with 308 to its other name on the same host. */
  readinessRedirect: quirk('off', oneOf('off', '308')),
  /** Who may read readiness reports. */
  readinessRoles: quirk('any', oneOf('any', 'manager')),
  /** A larger limit of the readiness list gets 400; with 0 every limit does. */
  readinessLimitMax: quirk(null, orNull(integer(0, PAGE_SIZE_MAX))),
  /** Readiness responds with 401 to every key. */
  readinessUnauthorized: quirk(false, boolean),
  /** Body of readiness refusals: as on other endpoints, `{"error":{"code","message"}}`, or plain text. */
  readinessErrors: quirk('problem', oneOf('problem', 'error', 'text')),
  /** `createdAt` of readiness reports has a fraction of a millisecond. */
  fractionalCreatedAt: quirk(false, boolean),
  /** Analytics responds with 403: not enabled for the organization. */
  analyticsDisabled: quirk(false, boolean),
  /** Creating a session gets 403: not enabled for the organization. */
  sessionsDisabled: quirk(false, boolean),
  /** A JWT that creates sessions like the owner's key; other endpoints respond to it with 401. Null: no JWT does. */
  sessionsJwt: quirk(deriveJwt({ seed: 0, token: null }), orNull(credential)),
  /** Whose keys may create sessions: all, or those of managers and owners, or of owners; others get 403. */
  sessionsRoles: quirk('any', oneOf('any', 'manager', 'owner')),
  /** The computers on which sessions can be created; any other gets 400. */
  computers: quirk(['computer-1', 'computer-2', 'computer-3'], listOf(text)),
  rateLimit: quirk(null, orNull(rateLimit)),
  /** Responses are compressed for clients that accept gzip. */
  gzip: quirk(false, boolean),
  /** Connections stay open. With false each one ends after a response, without an announcement. */
  keepAlive: quirk(true, boolean),
  /** `meta.org_id` of all responses, as if the key belonged to another organization. */
  orgId: quirk(null, orNull(text)),
  /** Well-formed responses that are wrong. A new value replaces all earlier lies. */
  lies: quirk({}, parseLies),
};

/**
 * Behaviours that the specification leaves open or that a service may show. The defaults follow the specification and,
 * where it is silent, the likely behaviour. Each can be changed while the emulator runs.
 */
export type Quirks = { readonly [Name in keyof typeof QUIRKS]: Parsed<(typeof QUIRKS)[Name]> };

/** The default of every quirk. */
export const DEFAULT_QUIRKS = Object.fromEntries(
  Object.entries(QUIRKS).map(([name, { initial }]) => [name, initial]),
  // The names come from the table, so the type follows from it.
) as Quirks;

/** What services of this kind are likely to do although the specification says otherwise. */
export const REALISTIC_QUIRKS = {
  maxRangeDays: 100,
  lastCursor: 'null',
  nullNumerators: 0.05,
} as const satisfies Partial<Quirks>;

const readQuirks = object({}, QUIRKS);

/**
 * Reads quirks from JSON: an object with any of the names of {@link Quirks}.
 * @example
 * parseQuirks({ modelKey: 'model_name', maxRangeDays: 31 });
 * @throws {UsageError} that names the place and what is accepted there.
 */
export function parseQuirks(json: unknown): Partial<Quirks> {
  if (isRecord(json) || json === undefined) return readQuirks(json ?? {}, 'quirks');
  return refuse('quirks', 'an object', json);
}
