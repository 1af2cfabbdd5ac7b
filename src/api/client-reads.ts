import { tablesOf } from '../../schema/tables.ts';
import { type EarlierRows, originalOf, type Rejected, type RowCheck, rowCheck } from '../checks/index.ts';
import { GROUP_BY, ReadinessReport, UserRow } from '../contract/index.ts';
import { isDay } from '../core/day.ts';
import { UnitError, UsageError } from '../core/errors.ts';
import type { DailyStream } from '../core/stream.ts';
import type { CallOptions, Transport } from '../http/index.ts';
import { otherRange, PartialAnswerError, possibleRows, rejectOtherDays } from './answer-rules.ts';
import {
  type Call,
  callOf,
  callOptions,
  type Paged,
  pagedOf,
  type RequestOptions,
  respondedBy,
  type WithResponse,
} from './calls.ts';
import { USERS_LIMIT } from './limits.ts';
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

/** Reads the rows of an endpoint. */
export function readRows<Row extends { date: string }>(
  context: ReadContext,
  query: AnalyticsQuery & { readonly stream: DailyStream },
  { check, options }: { readonly check: RowCheck<Row>; readonly options: RequestOptions | undefined },
): Call<Rows<Row>> {
  const read = async () => {
    checkRange(query);
    const page = await readPage(context, query, callOptions(context, options));
    const allowPartial = options?.allowPartial ?? context.allowPartial;
    return respondedBy(page, checkedRows(page, query, { check, allowPartial }));
  };
  return callOf(read());
}

/** The two shapes of an endpoint that can be grouped. */
interface Shapes<Plain, Grouped> {
  readonly plain: RowCheck<Plain>;
  readonly grouped: RowCheck<Grouped>;
}

/** A method that reads plain rows, or grouped ones. The type of `groupBy` decides which, also if it is not known. */
export interface GroupedRead<Group extends string, Plain, Grouped> {
  (query: DayRange & { readonly groupBy?: undefined }, options?: RequestOptions): Call<Rows<Plain>>;
  (query: DayRange & { readonly groupBy: Group }, options?: RequestOptions): Call<Rows<Grouped>>;
  (
    query: DayRange & { readonly groupBy?: Group | undefined },
    options?: RequestOptions,
  ): Call<Rows<Plain> | Rows<Grouped>>;
}

/** Makes the method that reads an endpoint, plain or grouped. */
export function readerOf<Plain extends { date: string }, Grouped extends { date: string }>(
  context: ReadContext,
  stream: keyof typeof GROUP_BY,
  { plain, grouped }: Shapes<Plain, Grouped>,
) {
  const day = ungrouped(plain);
  // A declaration, because an arrow function has no overloads.
  function read(query: DayRange & { groupBy?: undefined }, options?: RequestOptions): Call<Rows<Plain>>;
  function read(query: DayRange & { groupBy: string }, options?: RequestOptions): Call<Rows<Grouped>>;
  function read(
    query: DayRange & { groupBy?: string | undefined },
    options?: RequestOptions,
  ): Call<Rows<Plain> | Rows<Grouped>>;
  function read(
    query: DayRange & { groupBy?: string | undefined },
    options?: RequestOptions,
  ): Call<Rows<Plain> | Rows<Grouped>> {
    const groupBy = query?.groupBy;
    if (groupBy === undefined) return readRows(context, { ...query, stream }, { check: day, options });
    if (groupBy === GROUP_BY[stream])
      return readRows(context, { ...query, stream }, { check: grouped, options });
    const error = new UsageError(`${stream} cannot be grouped by "${groupBy}"`, {
      hint: `group it by ${GROUP_BY[stream]}`,
    });
    return callOf(Promise.reject(error));
  }
  return read;
}

/** Adds to a check of days that it rejects rows of groups: one alone would look like its day. */
function ungrouped<Row extends object>(check: RowCheck<Row>): RowCheck<Row> {
  const isGroup = (row: Row) => typeof Reflect.get(row, 'group_key') === 'string';
  return (records, options) => {
    const { rows, rejected } = check(records, options);
    const groups = rows.filter(isGroup).map((record): Rejected => {
      const path = `${options.path}[${records.indexOf(originalOf(record))}]`;
      return { record, path, kind: 'wrong-type', reason: 'has a group_key, and no groups were asked for' };
    });
    return { rows: rows.filter((row) => !isGroup(row)), rejected: [...rejected, ...groups] };
  };
}

/** The walk of /users, as items or as pages. */
export function readUsers(
  context: ReadContext,
  query: UsersQuery,
  options?: RequestOptions,
): Paged<UserRow, Rows<UserRow>> {
  return pagedOf(
    () => userPages(context, query, options),
    ({ data }) => data,
  );
}

/** Where a walk is, and what its earlier pages had. */
interface Walk {
  cursor?: string | undefined;
  orgId?: string;
  readonly earlier?: EarlierRows;
}

async function* userPages(
  context: ReadContext,
  query: UsersQuery,
  options: RequestOptions | undefined,
): AsyncGenerator<WithResponse<Rows<UserRow>>> {
  checkRange(query);
  const limit = checkLimit(query.limit ?? USERS_LIMIT.max, USERS_LIMIT.max);
  const call = callOptions(context, options);
  const allowPartial = options?.allowPartial ?? context.allowPartial;
  const stream = 'users' as const;
  const walk: Walk = { cursor: query.cursor, earlier: new Map() };
  const get = (cursor: string | undefined) => readPage(context, { ...query, stream, limit, cursor }, call);
  for await (const page of walkUsers(get, 'GET users', { after: query.cursor })) {
    const rows = checkedRows(page, { ...query, stream }, { check: checkUsers, allowPartial, ...walk });
    yield respondedBy(page, rows);
    walk.cursor = page.meta.next_cursor ?? undefined;
    walk.orgId = page.meta.org_id;
  }
}

/** The walk of readiness reports, as items or as pages. */
export function readReports(
  context: ReadContext,
  query: ReportsQuery,
  options?: RequestOptions,
): Paged<ReadinessReport, ReportsPage> {
  return pagedOf(
    () => reportPages(context, query, options),
    ({ reports }) => reports,
  );
}

async function* reportPages(
  context: ReadContext,
  query: ReportsQuery,
  options: RequestOptions | undefined,
): AsyncGenerator<WithResponse<ReportsPage>> {
  const { transport, hosts } = context;
  const limit = query.limit === undefined ? undefined : checkLimit(query.limit, Number.MAX_SAFE_INTEGER);
  const call = callOptions(context, options);
  const allowPartial = options?.allowPartial ?? context.allowPartial;
  const found = new ReportLimit();
  const pull = async (startAfter: string | undefined, perPage: number | undefined) => {
    const request = readinessRequest(hosts, { ...query, limit: perPage, startAfter });
    return readinessPage(await transport.get(request, call), NAME_OF_REPORTS);
  };
  const get = (startAfter: string | undefined) => {
    if (limit !== undefined) return pull(startAfter, limit);
    if (startAfter === query.startAfter) return found.firstPage((perPage) => pull(startAfter, perPage));
    return pull(startAfter, found.current ?? undefined);
  };
  const walk: Walk = { cursor: query.startAfter, earlier: new Map() };
  for await (const page of walkReadiness(get, NAME_OF_REPORTS, query.startAfter)) {
    const { rows, rejected } = checkReports(page.reports, { ...walk, path: 'reports', text: page.text });
    if (rejected.length > 0 && !allowPartial)
      throw new PartialAnswerError(NAME_OF_REPORTS, {
        ...{ data: rows, rejected, cursor: walk.cursor },
        ...{ requestId: page.requestId, target: page.target },
      });
    yield respondedBy(page, { reports: rows, rejected });
    walk.cursor = page.lastId;
  }
}

const NAME_OF_REPORTS = 'GET readiness reports';

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
 * @throws {UnitError} if it is about another range, or another organization than the page before.
 * @throws {PartialAnswerError} if parts of it are rejected.
 */
function checkedRows<Row extends { date: string }>(
  page: AnalyticsPage,
  { stream, startDate: first, endDate: last }: DayRange & { readonly stream: DailyStream },
  {
    check,
    allowPartial,
    cursor,
    orgId = page.meta.org_id,
    earlier = new Map(),
  }: Walk & { readonly check: RowCheck<Row>; readonly allowPartial: boolean },
): Rows<Row> {
  const name = `GET ${stream} ${first} to ${last}`;
  const { requestId, target } = page;
  const isForeign = page.meta.org_id !== orgId;
  const other = isForeign ? 'another organization' : otherRange(page.meta, first, last);
  if (other !== null)
    throw new UnitError(`${name}: the answer is about ${other}`, {
      reason: isForeign ? 'other-organization' : 'other-range',
      ...{ requestId, target },
      hint: 'a cache on the way may answer in place of the service',
    });
  const { rows, rejected: misshapen } = check(page.data, { path: 'data', text: page.text, earlier });
  const isAsked = ({ date }: Row) => date >= first && date <= last;
  const strangers = rows.filter((row) => !isAsked(row));
  const rejected = [...misshapen, ...rejectOtherDays(strangers, page, { first, last })];
  const data = strangers.length === 0 ? rows : rows.filter(isAsked);
  if (rejected.length > 0 && !allowPartial)
    throw new PartialAnswerError(name, { data, rejected, cursor, requestId, target });
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
