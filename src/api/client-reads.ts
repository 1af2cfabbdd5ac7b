import { validateHeaderName, validateHeaderValue } from 'node:http';
import { tablesOf } from '../../schema/tables.ts';
import { type Rejected, type RowCheck, rowCheck } from '../checks/index.ts';
import { GROUP_BY, ReadinessReport, UserRow } from '../contract/index.ts';
import { isDay } from '../core/day.ts';
import { UnitError, UsageError } from '../core/errors.ts';
import type { DailyStream } from '../core/stream.ts';
import type { CallOptions, Transport } from '../http/index.ts';
import { otherRange, PartialAnswerError, possibleRows, rejectOtherDays } from './answer-rules.ts';
import { TIMER_MS_MAX, USERS_LIMIT } from './limits.ts';
import {
  type AnalyticsPage,
  analyticsPage,
  type Meta,
  readinessPage,
  walkReadiness,
  walkUsers,
} from './pages.ts';
import {
  type AnalyticsQuery,
  analyticsRequest,
  type Hosts,
  ReportLimit,
  readinessRequest,
} from './requests.ts';

/** A range of UTC days, both included. The service answers 400 if it does not allow so many days per request. */
export interface DayRange {
  /** First day, `YYYY-MM-DD`; there is no data before 2026-01-14. */
  readonly startDate: string;
  /** Last day, `YYYY-MM-DD`; yesterday (UTC) at the latest. */
  readonly endDate: string;
}

/** The rows of one response. */
export interface Rows<Row> {
  readonly data: readonly Row[];
  readonly meta: Meta;
  /** Parts of the response that are not in `data`, with the reason; empty unless `allowPartial` is set. */
  readonly rejected: readonly Rejected[];
}

/** A page of readiness reports. */
export interface ReportsPage {
  readonly reports: readonly ReadinessReport[];
  /** Parts of the response that are not in `reports`; empty unless `allowPartial` is set. */
  readonly rejected: readonly Rejected[];
}

/** Options of one call, the second argument of every method. */
export interface RequestOptions {
  /** Ends this call. @default that of the client */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of one attempt in milliseconds. @default `requestTimeoutMs` of the client */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of repetitions of each request. @default `attempts` of the client − 1 */
  readonly retries?: number | undefined;
  /** Further headers. Those that the client sends itself cannot be replaced. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Returns an answer of which parts were rejected, instead of throwing. @default that of the client */
  readonly allowPartial?: boolean | undefined;
}

/**
 * The items of a walk, over all pages. Every loop begins a new walk with its own requests; pages are requested as the
 * loop needs them.
 */
export interface Paged<Item, Page> extends AsyncIterable<Item> {
  /** The same walk page by page. */
  pages(): AsyncIterable<Page>;
}

/** What every read of a client needs. */
export interface ReadContext {
  readonly transport: Transport;
  readonly hosts: Hosts;
  readonly signal: AbortSignal;
  readonly allowPartial: boolean;
}

/** Parameters of a walk of users. */
export type UsersQuery = DayRange & {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

/** Parameters of a walk of readiness reports. */
export interface ReportsQuery {
  readonly repoId?: string | undefined;
  readonly limit?: number | undefined;
  readonly startAfter?: string | undefined;
}

const checkUsers = possibleRows(rowCheck(UserRow), { tables: tablesOf('users'), name: ['date', 'user_id'] });
const checkReports = possibleRows(rowCheck(ReadinessReport), {
  tables: tablesOf('readiness'),
  name: ['reportId'],
});

/** More attempts than any caller waits for. */
const RETRIES_MAX = 1_000;
/** Headers that the client sends itself, or that undici sets. */
const OWN_HEADERS =
  /^(authorization|accept|accept-encoding|content-type|content-length|host|connection|transfer-encoding|user-agent)$/i;

/**
 * The options of a call as the transport takes them.
 * @throws {UsageError} for a number out of range, or a header that cannot be replaced.
 */
export function callOptions(
  client: { readonly signal: AbortSignal },
  options: RequestOptions = {},
): CallOptions {
  const { signal = client.signal, timeoutMs, retries, headers } = options;
  for (const [name, value, min, max] of [
    ['timeoutMs', timeoutMs, 1, TIMER_MS_MAX],
    ['retries', retries, 0, RETRIES_MAX],
  ] as const) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= min && value <= max))
      throw new UsageError(`${name} is ${value}, not a whole number from ${min} to ${max}`, {
        hint: `leave ${name} out for that of the client`,
      });
  }
  for (const [name, value] of Object.entries(headers ?? {})) checkHeader(name, value);
  return { signal, timeoutMs, headers, ...(retries === undefined ? {} : { attempts: retries + 1 }) };
}

function checkHeader(name: string, value: unknown): void {
  if (OWN_HEADERS.test(name))
    throw new UsageError(`the header ${name} cannot be replaced`, { hint: 'the client sends it itself' });
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value as string);
  } catch (cause) {
    // The value may be a secret.
    throw new UsageError(`headers: "${name}" has a name or a value that HTTP does not allow`, {
      cause,
      hint: 'give a text without line breaks and other control characters',
    });
  }
}

/** Reads the rows of an endpoint. */
export async function readRows<Row extends { date: string }>(
  context: ReadContext,
  query: AnalyticsQuery & { readonly stream: DailyStream },
  { check, options }: { readonly check: RowCheck<Row>; readonly options: RequestOptions | undefined },
): Promise<Rows<Row>> {
  checkRange(query);
  const page = await readPage(context, query, callOptions(context, options));
  return checkedRows(page, query, { check, allowPartial: options?.allowPartial ?? context.allowPartial });
}

/** The two shapes of an endpoint that can be grouped. */
interface Shapes<Plain, Grouped> {
  readonly plain: RowCheck<Plain>;
  readonly grouped: RowCheck<Grouped>;
}

/** A method that reads plain rows, or grouped ones. The type of `groupBy` decides which, also if it is not known. */
export interface GroupedRead<Group extends string, Plain, Grouped> {
  (query: DayRange & { readonly groupBy?: undefined }, options?: RequestOptions): Promise<Rows<Plain>>;
  (query: DayRange & { readonly groupBy: Group }, options?: RequestOptions): Promise<Rows<Grouped>>;
  (
    query: DayRange & { readonly groupBy?: Group | undefined },
    options?: RequestOptions,
  ): Promise<Rows<Plain> | Rows<Grouped>>;
}

/** Makes the method that reads an endpoint, plain or grouped. */
export function readerOf<Plain extends { date: string }, Grouped extends { date: string }>(
  context: ReadContext,
  stream: keyof typeof GROUP_BY,
  { plain, grouped }: Shapes<Plain, Grouped>,
) {
  // A declaration, because an arrow function has no overloads.
  function read(query: DayRange & { groupBy?: undefined }, options?: RequestOptions): Promise<Rows<Plain>>;
  function read(query: DayRange & { groupBy: string }, options?: RequestOptions): Promise<Rows<Grouped>>;
  function read(
    query: DayRange & { groupBy?: string | undefined },
    options?: RequestOptions,
  ): Promise<Rows<Plain> | Rows<Grouped>>;
  async function read(
    query: DayRange & { groupBy?: string | undefined },
    options?: RequestOptions,
  ): Promise<Rows<Plain> | Rows<Grouped>> {
    const groupBy = query?.groupBy;
    if (groupBy === undefined) return readRows(context, { ...query, stream }, { check: plain, options });
    if (groupBy === GROUP_BY[stream])
      return readRows(context, { ...query, stream }, { check: grouped, options });
    throw new UsageError(`${stream} cannot be grouped by "${groupBy}"`, {
      hint: `group it by ${GROUP_BY[stream]}`,
    });
  }
  return read;
}

/** The walk of /users, as items or as pages. */
export function readUsers(
  context: ReadContext,
  query: UsersQuery,
  options?: RequestOptions,
): Paged<UserRow, Rows<UserRow>> {
  return paged(
    () => userPages(context, query, options),
    ({ data }) => data,
  );
}

async function* userPages(
  context: ReadContext,
  query: UsersQuery,
  options: RequestOptions | undefined,
): AsyncGenerator<Rows<UserRow>> {
  checkRange(query);
  const limit = checkLimit(query.limit ?? USERS_LIMIT.max, USERS_LIMIT.max);
  const call = callOptions(context, options);
  const allowPartial = options?.allowPartial ?? context.allowPartial;
  const stream = 'users' as const;
  let asked = query.cursor;
  const get = (cursor: string | undefined) =>
    readPage(context, { ...query, stream, limit, cursor: cursor ?? query.cursor }, call);
  for await (const page of walkUsers(get, 'GET users')) {
    yield checkedRows(page, { ...query, stream }, { check: checkUsers, allowPartial, cursor: asked });
    asked = page.meta.next_cursor ?? undefined;
  }
}

/** The walk of readiness reports, as items or as pages. */
export function readReports(
  context: ReadContext,
  query: ReportsQuery,
  options?: RequestOptions,
): Paged<ReadinessReport, ReportsPage> {
  return paged(
    () => reportPages(context, query, options),
    ({ reports }) => reports,
  );
}

async function* reportPages(
  context: ReadContext,
  query: ReportsQuery,
  options: RequestOptions | undefined,
): AsyncGenerator<ReportsPage> {
  const { transport, hosts } = context;
  const { repoId } = query;
  const limit = query.limit === undefined ? undefined : checkLimit(query.limit, Number.MAX_SAFE_INTEGER);
  const call = callOptions(context, options);
  const allowPartial = options?.allowPartial ?? context.allowPartial;
  const found = new ReportLimit();
  const pull = async (startAfter: string | undefined, perPage: number | undefined) => {
    const request = readinessRequest(hosts, { repoId, limit: perPage, startAfter });
    return readinessPage(await transport.get(request, call), NAME_OF_REPORTS);
  };
  const get = (startAfter: string | undefined) => {
    if (limit !== undefined) return pull(startAfter, limit);
    if (startAfter === query.startAfter) return found.firstPage((perPage) => pull(startAfter, perPage));
    return pull(startAfter, found.current ?? undefined);
  };
  let asked = query.startAfter;
  for await (const page of walkReadiness(get, NAME_OF_REPORTS, query.startAfter)) {
    const { rows, rejected } = checkReports(page.reports, { path: 'reports', text: page.text });
    if (rejected.length > 0 && !allowPartial)
      throw new PartialAnswerError(NAME_OF_REPORTS, { data: rows, rejected, cursor: asked });
    yield { reports: rows, rejected };
    asked = page.lastId;
  }
}

const NAME_OF_REPORTS = 'GET readiness reports';

/** Makes a walk that every loop begins anew. */
function paged<Item, Page>(
  begin: () => AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Paged<Item, Page> {
  return {
    async *[Symbol.asyncIterator]() {
      for await (const page of begin()) yield* itemsOf(page);
    },
    pages: () => ({ [Symbol.asyncIterator]: () => begin()[Symbol.asyncIterator]() }),
  };
}

async function readPage(
  { transport, hosts }: ReadContext,
  { stream, ...query }: AnalyticsQuery & { readonly stream: DailyStream },
  call: CallOptions,
): Promise<AnalyticsPage> {
  const answer = await transport.get(analyticsRequest(hosts, stream, query), call);
  return analyticsPage(answer, `GET ${stream}`);
}

/**
 * The valid rows of a page.
 * @throws {UnitError} if it answers another range. @throws {PartialAnswerError} if parts of it are rejected.
 */
function checkedRows<Row extends { date: string }>(
  page: AnalyticsPage,
  { stream, startDate, endDate }: DayRange & { readonly stream: DailyStream },
  {
    check,
    allowPartial,
    cursor,
  }: { readonly check: RowCheck<Row>; readonly allowPartial: boolean; readonly cursor?: string | undefined },
): Rows<Row> {
  const name = `GET ${stream}`;
  const other = otherRange(page.meta, startDate, endDate);
  if (other !== null)
    throw new UnitError(`${name} ${startDate} to ${endDate}: the answer is about ${other}`, {
      reason: 'other-range',
      hint: 'a cache on the way may answer in place of the service',
    });
  const { rows, rejected: misshapen } = check(page.data, { path: 'data', text: page.text });
  const isAsked = ({ date }: Row) => date >= startDate && date <= endDate;
  const strangers = rows.every(isAsked) ? [] : rows.filter((row) => !isAsked(row));
  const days = { first: startDate, last: endDate };
  const rejected = [...misshapen, ...rejectOtherDays(strangers, page, days)];
  const data = strangers.length === 0 ? rows : rows.filter(isAsked);
  if (rejected.length > 0 && !allowPartial) throw new PartialAnswerError(name, { data, rejected, cursor });
  return { data, meta: page.meta, rejected };
}

function checkRange(query: Partial<DayRange> | undefined): void {
  const { startDate, endDate } = query ?? {};
  for (const [name, value] of Object.entries({ startDate, endDate })) {
    if (!isDay(value)) {
      throw new UsageError(`${name} "${value}" is not a calendar day`, { hint: 'write days as YYYY-MM-DD' });
    }
  }
  if (startDate !== undefined && endDate !== undefined && startDate > endDate) {
    throw new UsageError(`startDate ${startDate} is after endDate ${endDate}`, { hint: 'swap them' });
  }
}

function checkLimit(limit: number, max: number): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw new UsageError(`limit ${limit} is out of range`, { hint: `choose a whole number from 1 to ${max}` });
}
