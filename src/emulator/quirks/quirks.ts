import type { UtcDay } from '../../core/day.ts';
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
  type Parser,
  refuse,
  text,
} from '../input/parse.ts';
import { type Lies, readLies } from './lies.ts';

/** Answers 429 above a rate. The emulator counts requests that carry a valid key. */
export interface RateLimitQuirk {
  readonly requestsPerMinute?: number;
  /** Requests that may come at once before the rate applies; the requests of one minute unless given. */
  readonly burst?: number;
  /** Requests that may be in work at the same time. */
  readonly inFlight?: number;
  /** How Retry-After is written; `seconds` unless given. */
  readonly retryAfter?: 'seconds' | 'date' | 'garbage' | 'absent';
}

/**
 * Behaviours that the specification leaves open or that a service may show. The defaults are the specification, and
 * where it is silent what is most likely. Each can be changed while the emulator runs.
 */
export interface Quirks {
  /** The key under which `by_model` elements name the model. */
  readonly modelKey: 'model_id' | 'model' | 'model_name' | 'group_key';
  /** `by_model` elements and rows by model carry `model_tier`. */
  readonly modelTier: boolean;
  /** `by_model` elements and rows by model carry the cache metrics. */
  readonly cacheFields: boolean;
  /** The key under which `by_user` elements name the user. */
  readonly userKey: 'user_id' | 'user' | 'id' | 'group_key';
  /** `by_user` with a nested `by_model`, without it, or not there at all. */
  readonly byUser: 'nested' | 'flat' | 'absent';
  /** Days without activity: no row, or a row of zeros. Before the first day with data there is never a row. */
  readonly emptyDays: 'absent' | 'zeros';
  /** Days on which nobody is active. */
  readonly inactiveDays: readonly UtcDay[];
  /** Longest range of one request in days; a longer one is answered 400. */
  readonly maxRangeDays: number;
  /** Longest answer in characters; a range that would exceed it is answered 400. Bounds the memory of the emulator. */
  readonly maxAnswerChars: number;
  /** A start before the first day with data: those days are empty, or 400. */
  readonly beforeEpoch: 'empty' | 'reject';
  /** An unsupported group_by: 400, or answered as if it were not there. */
  readonly unsupportedGroupBy: 'reject' | 'ignore';
  /** Numbers of days up to this age are provisional: they change from day to day, and some users are missing. */
  readonly provisionalDays: number;
  /** Yesterday has no data yet: for ever (true), or for this many requests that ask for it. */
  readonly lateBatch: boolean | number;
  /** What the limit of /users counts over several days: users, or rows (and then the last user's rows are complete). */
  readonly limitCounts: 'users' | 'rows';
  /** The server caps the limit of /users. */
  readonly usersLimitCap: number | null;
  /** The limit of /users is ignored: pages have this many users, or one of these sizes, chosen by cursor. */
  readonly pageSize: number | readonly number[] | null;
  /** Now and then a page of /users is empty although more follow. */
  readonly emptyPageWithMore: boolean;
  /** Each page of /users repeats the last user of the page before: with the same numbers, or with others. */
  readonly overlappingPages: 'off' | 'identical' | 'conflicting';
  /** A cursor that is not a user id: the walk goes on after that text, or 400. */
  readonly unknownCursor: 'resume' | 'reject';
  /** Share of metrics that are null or absent. */
  readonly nullMetrics: number;
  /** Every object of an answer has a field that nobody knows. */
  readonly unknownFields: boolean;
  /** A client type that the specification does not name. */
  readonly newClientType: boolean;
  /** Criteria that earlier reports did not have. */
  readonly newCriteria: boolean;
  /** Share of criteria whose numerator is null because they were skipped. */
  readonly nullNumerators: number;
  /** Most reports of one page of the readiness list; also what is served without a limit. */
  readonly readinessLimitCap: number;
  /** Order of the readiness list. */
  readonly readinessOrder: 'newest' | 'oldest' | 'shuffled';
  /** The readiness path answers 308 to its other name on the same host. */
  readonly readinessRedirect: 'off' | '308';
  /** Who may read readiness reports. */
  readonly readinessRoles: 'any' | 'manager';
  /** The largest limit of the readiness list; a larger one is answered 400, with 0 any limit is. */
  readonly readinessLimitMax: number | null;
  /** Readiness answers 401 to every key. */
  readonly readinessUnauthorized: boolean;
  /** The body of readiness refusals: that of the other endpoints, `{"error":{"code","message"}}`, or plain text. */
  readonly readinessErrors: 'problem' | 'error' | 'text';
  /** `createdAt` of readiness reports has a fraction of a millisecond. */
  readonly fractionalCreatedAt: boolean;
  /** Analytics answers 403: not enabled for the organization. */
  readonly analyticsDisabled: boolean;
  /** Creating a session answers 403: not enabled for the organization. */
  readonly sessionsDisabled: boolean;
  /** A JWT that creates sessions as the owner's key does; other endpoints answer it 401. */
  readonly sessionsJwt: string | null;
  /** The computers that a session can be created on; any other is answered 400. */
  readonly computers: readonly string[];
  /** Answers 429 above a rate. */
  readonly rateLimit: RateLimitQuirk | null;
  /** Answers are compressed for clients that accept gzip. */
  readonly gzip: boolean;
  /** Connections stay open; false ends each one after a reply without announcing it. */
  readonly keepAlive: boolean;
  /** `meta.org_id` of all answers, as if the key belonged to another organization. */
  readonly orgId: string | null;
  /** Well-formed answers that are wrong. Setting it replaces all lies of before. */
  readonly lies: Lies;
}

/** The specification, and where it is silent the likely behaviour. */
export const DEFAULT_QUIRKS: Quirks = {
  modelKey: 'model_id',
  modelTier: true,
  cacheFields: false,
  userKey: 'user_id',
  byUser: 'nested',
  emptyDays: 'absent',
  inactiveDays: [],
  maxRangeDays: 100,
  maxAnswerChars: 64 * 1024 * 1024,
  beforeEpoch: 'empty',
  unsupportedGroupBy: 'reject',
  provisionalDays: 0,
  lateBatch: false,
  limitCounts: 'users',
  usersLimitCap: null,
  pageSize: null,
  emptyPageWithMore: false,
  overlappingPages: 'off',
  unknownCursor: 'resume',
  nullMetrics: 0,
  unknownFields: false,
  newClientType: false,
  newCriteria: false,
  nullNumerators: 0.05,
  readinessLimitCap: 100,
  readinessOrder: 'newest',
  readinessRedirect: 'off',
  readinessRoles: 'any',
  readinessLimitMax: null,
  readinessUnauthorized: false,
  readinessErrors: 'problem',
  fractionalCreatedAt: false,
  analyticsDisabled: false,
  sessionsDisabled: false,
  sessionsJwt: null,
  computers: ['computer-1', 'computer-2', 'computer-3'],
  rateLimit: null,
  gzip: false,
  keepAlive: true,
  orgId: null,
  lies: {},
};

const PAGE_SIZE_MAX = 100_000;
const share = number(0, 1);
const pageSize = integer(0, PAGE_SIZE_MAX);

const PARSERS: { readonly [K in keyof Quirks]: Parser<Quirks[K]> } = {
  modelKey: oneOf('model_id', 'model', 'model_name', 'group_key'),
  modelTier: boolean,
  cacheFields: boolean,
  userKey: oneOf('user_id', 'user', 'id', 'group_key'),
  byUser: oneOf('nested', 'flat', 'absent'),
  emptyDays: oneOf('absent', 'zeros'),
  inactiveDays: listOf(day),
  maxRangeDays: integer(1, 10_000),
  maxAnswerChars: integer(1_000, 256 * 1024 * 1024),
  beforeEpoch: oneOf('empty', 'reject'),
  unsupportedGroupBy: oneOf('reject', 'ignore'),
  provisionalDays: integer(0, 365),
  lateBatch: either(boolean, integer(0), 'true, false or a number of requests'),
  limitCounts: oneOf('users', 'rows'),
  usersLimitCap: orNull(integer(1, PAGE_SIZE_MAX)),
  pageSize: orNull(either(pageSize, listOf(pageSize), 'a number of users, a list of numbers, or null')),
  emptyPageWithMore: boolean,
  overlappingPages: oneOf('off', 'identical', 'conflicting'),
  unknownCursor: oneOf('resume', 'reject'),
  nullMetrics: share,
  unknownFields: boolean,
  newClientType: boolean,
  newCriteria: boolean,
  nullNumerators: share,
  readinessLimitCap: integer(1, PAGE_SIZE_MAX),
  readinessOrder: oneOf('newest', 'oldest', 'shuffled'),
  readinessRedirect: oneOf('off', '308'),
  readinessRoles: oneOf('any', 'manager'),
  readinessLimitMax: orNull(integer(0, PAGE_SIZE_MAX)),
  readinessUnauthorized: boolean,
  readinessErrors: oneOf('problem', 'error', 'text'),
  fractionalCreatedAt: boolean,
  analyticsDisabled: boolean,
  sessionsDisabled: boolean,
  sessionsJwt: orNull(text),
  computers: listOf(text),
  rateLimit: orNull(
    object(
      {},
      {
        requestsPerMinute: integer(1),
        burst: integer(1),
        inFlight: integer(1),
        retryAfter: oneOf('seconds', 'date', 'garbage', 'absent'),
      },
    ),
  ),
  gzip: boolean,
  keepAlive: boolean,
  orgId: orNull(text),
  lies: readLies,
};

/**
 * Reads quirks from JSON: an object with any of the names of {@link Quirks}.
 * @throws {UsageError} that names the place and what is accepted there.
 */
export function parseQuirks(json: unknown): Partial<Quirks> {
  if (isRecord(json) || json === undefined) return readQuirks(json ?? {}, 'quirks');
  return refuse('quirks', 'an object', json);
}

const readQuirks = object({}, PARSERS);
