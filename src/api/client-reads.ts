import { USERS_LIMIT } from '../contract/limits.ts';
import { GROUP_BY } from '../contract/paths.ts';
import { type Rejected, type RowCheck, rowCheck } from '../contract/row-check.ts';
import { ReadinessReport, UserRow } from '../contract/shapes.ts';
import { isDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import type { DailyStream } from '../core/stream.ts';
import type { Transport } from '../http/transport.ts';
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

/** The rows of one response: valid ones, and those that were rejected. */
export interface Rows<Row> {
  readonly data: readonly Row[];
  readonly meta: Meta;
  /** Parts of the response that are not in `data`, with the reason. Usually none. */
  readonly rejected: readonly Rejected[];
}

/** A page of readiness reports. */
export interface ReportsPage {
  readonly reports: readonly ReadinessReport[];
  readonly rejected: readonly Rejected[];
}

export interface ReadContext {
  readonly transport: Transport;
  readonly hosts: Hosts;
  readonly signal: AbortSignal;
}

/** Parameters of a walk of users. */
export type UsersQuery = DayRange & { limit?: number; cursor?: string };

/** Parameters of a walk of readiness reports. */
export interface ReportsQuery {
  repoId?: string;
  limit?: number;
  startAfter?: string;
}

const checkUsers = rowCheck(UserRow);
const checkReports = rowCheck(ReadinessReport);

/** Reads the rows of an endpoint. */
export async function readRows<Row>(
  context: ReadContext,
  query: AnalyticsQuery & { readonly stream: DailyStream },
  check: RowCheck<Row>,
): Promise<Rows<Row>> {
  checkRange(query);
  return checkRows(await readPage(context, query.stream, query), check);
}

/** Makes the function that reads an endpoint, plain or grouped. */
export function readerOf<Plain, Grouped>(
  context: ReadContext,
  stream: keyof typeof GROUP_BY,
  { plain, grouped }: { plain: RowCheck<Plain>; grouped: RowCheck<Grouped> },
) {
  // A declaration, because an arrow function has no overloads.
  function read(query: DayRange & { groupBy: string }): Promise<Rows<Grouped>>;
  function read(query: DayRange): Promise<Rows<Plain>>;
  async function read(query: DayRange & { groupBy?: string }): Promise<Rows<Plain> | Rows<Grouped>> {
    if (query.groupBy === undefined) return readRows(context, { ...query, stream }, plain);
    if (query.groupBy === GROUP_BY[stream]) return readRows(context, { ...query, stream }, grouped);
    throw new UsageError(`${stream} cannot be grouped by "${query.groupBy}"`, {
      hint: `group it by ${GROUP_BY[stream]}`,
    });
  }
  return read;
}

/** Reads the pages of /users. */
export async function* readUsers(context: ReadContext, query: UsersQuery): AsyncGenerator<Rows<UserRow>> {
  checkRange(query);
  const limit = checkLimit(query.limit ?? USERS_LIMIT.max, USERS_LIMIT.max);
  const get = (cursor: string | undefined) =>
    readPage(context, 'users', { ...query, limit, cursor: cursor ?? query.cursor });
  for await (const page of walkUsers(get, 'GET users')) yield checkRows(page, checkUsers);
}

/** Reads the pages of readiness reports. */
export async function* readReports(
  { transport, hosts, signal }: ReadContext,
  query: ReportsQuery,
): AsyncGenerator<ReportsPage> {
  const { repoId } = query;
  const limit = query.limit === undefined ? undefined : checkLimit(query.limit, Number.MAX_SAFE_INTEGER);
  const found = new ReportLimit();
  const pull = async (startAfter: string | undefined, perPage: number | undefined) => {
    const request = readinessRequest(hosts, { repoId, limit: perPage, startAfter });
    return readinessPage(await transport.get(request, { signal }), 'GET readiness reports');
  };
  const get = (startAfter: string | undefined) => {
    if (limit !== undefined) return pull(startAfter, limit);
    if (startAfter === query.startAfter) return found.firstPage((perPage) => pull(startAfter, perPage));
    return pull(startAfter, found.current ?? undefined);
  };
  for await (const page of walkReadiness(get, 'GET readiness reports', query.startAfter)) {
    const { rows, rejected } = checkReports(page.reports, { path: 'reports', text: page.text });
    yield { reports: rows, rejected };
  }
}

async function readPage(
  { transport, hosts, signal }: ReadContext,
  stream: DailyStream,
  query: AnalyticsQuery,
): Promise<AnalyticsPage> {
  const answer = await transport.get(analyticsRequest(hosts, stream, query), { signal });
  return analyticsPage(answer, `GET ${stream}`);
}

function checkRows<Row>(page: AnalyticsPage, check: RowCheck<Row>): Rows<Row> {
  const { rows, rejected } = check(page.data, { path: 'data', text: page.text });
  return { data: rows, meta: page.meta, rejected };
}

function checkRange({ startDate, endDate }: DayRange): void {
  for (const [name, value] of Object.entries({ startDate, endDate })) {
    if (!isDay(value)) {
      throw new UsageError(`${name} "${value}" is not a calendar day`, { hint: 'write days as YYYY-MM-DD' });
    }
  }
  if (startDate > endDate) {
    throw new UsageError(`startDate ${startDate} is after endDate ${endDate}`, { hint: 'swap them' });
  }
}

function checkLimit(limit: number, max: number): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw new UsageError(`limit ${limit} is out of range`, { hint: `choose a whole number from 1 to ${max}` });
}
