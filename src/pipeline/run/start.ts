import type { AnalyticsPage } from '../../api/index.ts';
import type { Clock } from '../../core/clock.ts';
import { dayOf, daysBetween, FIRST_DAY, shiftDay, type UtcDay, yesterdayOf } from '../../core/day.ts';
import { DaywalkError, messageOf, RunError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { DAILY_STREAMS, isDailyStream, type Stream } from '../../core/stream.ts';
import {
  ApiError,
  BadRequestError,
  CredentialError,
  parseHttpDate,
  RequestError,
  type Unreached,
} from '../../http/index.ts';
import { readOrganizationIds } from '../../ledger/index.ts';
import { expectName, type NameInFile, readNames } from '../../organizations/index.ts';
import type { Warehouse } from '../../port/index.ts';
import type { DayUnit } from '../../units/index.ts';
import type { RunObserver } from '../events.ts';
import { pullFirstPage, type Source } from '../pull.ts';
import { expectAnswerTo } from '../validate.ts';

interface ScopeOptions extends NewestRequest {
  readonly source: Source;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly observe: RunObserver;
  readonly firstDay: UtcDay;
  /** @default the organization that the service names for the key */
  readonly orgId?: string | null;
  /** The name of the organization; its identity is then always requested. @default none */
  readonly named?: NameInFile | undefined;
}

/** What a run learns before it plans. */
export interface RunScope {
  readonly orgId: string;
  /** The organizations that the warehouse knew, if this one is new to it; empty otherwise. */
  readonly organizationsBefore: readonly string[];
  /** Today by the earlier of the two clocks, this machine's and the service's; fixed for the whole run. */
  readonly today: UtcDay;
  /** The last day to request. */
  readonly lastDay: UtcDay;
  /** The page that the first successful request returned; undefined if none was sent, or if all failed. */
  readonly first: FirstPage | undefined;
}

/** A clock that is ahead by less matters only around midnight, so there is no warning. */
const SKEW_REPORTED_MS = 10 * 60 * 1000;

/**
 * Learns the organization and the last day of a run. Sends nothing if the ID of the organization is given and no analytics
 * are requested.
 * @throws {RunError} with exit code 5 if the service answers for another organization than the given one, or than the name
 * stands for; {@link RunError} if no day of the range is over by the service's clock; and what {@link identify} throws, explained by
 * {@link firstContactError} if the warehouse has no organization yet.
 */
export async function learnScope(options: ScopeOptions, signal: AbortSignal): Promise<RunScope> {
  const { warehouse, named } = options;
  const known = await readOrganizationIds(warehouse);
  const isFirstContact = known.length === 0 || (await isNewName(options));
  const { orgId, ...newest } = await requestOrganization(options, signal, isFirstContact).catch(
    (error: unknown) => {
      throw isFirstContact ? firstContactError(error, options.source.hosts.baseUrl) : error;
    },
  );
  const hasNewName = named !== undefined && !(await expectName(warehouse, named, orgId));
  const organizationsBefore = known.includes(orgId) ? [] : known;
  if (hasNewName || organizationsBefore.length > 0)
    await confirmOrganization(options, orgId, newest.first, signal);
  return {
    orgId,
    organizationsBefore,
    ...daysByBothClocks(options, newest),
    first: newest.first,
  };
}

async function isNewName({ warehouse, named }: ScopeOptions): Promise<boolean> {
  return named !== undefined && !(await readNames(warehouse)).some(({ name }) => name === named.name);
}

type KnownOrganization = { readonly orgId: string } & Pick<NewestAnswer, 'first' | 'serverDate'>;

async function requestOrganization(
  options: ScopeOptions,
  signal: AbortSignal,
  isFirstContact: boolean,
): Promise<KnownOrganization> {
  const { source, streams, orgId } = options;
  if (orgId === undefined || orgId === null) {
    const { unit, page, requests, ...found } = await identify(source, options, signal);
    return { ...found, first: { unit, page, requests } };
  }
  if (!streams.some(isDailyStream)) return { orgId, first: undefined, serverDate: undefined };
  const { first, serverDate, failure } = await requestNewest(source, options, signal);
  // If the service has never answered, these failures may be about the URL and not about a day.
  const isWrongUrl = isFirstContact && firstContactError(failure, source.hosts.baseUrl) !== failure;
  if (first === undefined && isWrongUrl) throw failure;
  if (first !== undefined) {
    const { stream, day } = first.unit;
    expectAnswerTo(first.page, orgId, { stream, days: [day] });
  }
  return { orgId, first, serverDate };
}

/**
 * Makes sure that a new organization is not the mistake of one answer: the whole run would be stored under it.
 * @throws {RunError} with exit code 5 if a second answer names another organization; the first failure if none came.
 */
async function confirmOrganization(
  { source }: ScopeOptions,
  orgId: string,
  newest: FirstPage | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (newest === undefined) return;
  const { stream, day } = newest.unit;
  const streams = DAILY_STREAMS.filter((other) => other !== stream);
  const { first, failure } = await requestNewest(source, { lastDay: day, streams }, signal);
  if (first === undefined) throw failure;
  expectAnswerTo(first.page, orgId, { stream: first.unit.stream, days: [first.unit.day] });
}

/**
 * Returns today and the last day by the earlier clock. If this clock is one day ahead, the last day does not change: it is
 * requested, and awaited if the service refuses it. If this clock is further ahead, the last day moves back: otherwise
 * several days would fail and others would settle too early.
 */
function daysByBothClocks(
  { clock, observe, firstDay, lastDay }: ScopeOptions,
  { first, serverDate }: Pick<NewestAnswer, 'first' | 'serverDate'>,
): { today: UtcDay; lastDay: UtcDay } {
  const now = clock.now();
  const today = dayOf(now);
  const serverDay = serverDate === undefined ? today : dayOf(serverDate);
  const daysAhead = daysBetween(serverDay, today);
  // If the service has data of a day that is not over by its Date header, that header is wrong.
  const hasLaterData = first !== undefined && first.unit.day >= serverDay && first.page.data.length > 0;
  const isDisproved = hasLaterData || serverDay <= FIRST_DAY;
  if (serverDate === undefined || daysAhead <= 0 || isDisproved) return { today, lastDay };
  const clocks = `this machine's clock says ${now.toISOString()}, the service's says ${serverDate.toISOString()}`;
  const hint = "correct this machine's clock: it is ahead of the service's";
  const yesterday = shiftDay(serverDay, -1);
  const capped = daysAhead > 1 && yesterday < lastDay ? yesterday : lastDay;
  if (capped < firstDay)
    throw new RunError(`${clocks}, by which no day from ${firstDay} on is over`, { hint });
  if (now.getTime() - serverDate.getTime() > SKEW_REPORTED_MS)
    observe({ type: 'warning', message: `${clocks}; the run uses the earlier one`, hint });
  return { today: serverDay, lastDay: capped };
}

/** How many days before the newest one are tried if it is refused. */
const OLDER_DAYS_MAX = 7;

/** The first page of a unit, kept so that it need not be requested again. */
export interface FirstPage {
  readonly unit: DayUnit;
  readonly page: AnalyticsPage;
  /** How many requests this page needed. */
  readonly requests: number;
}

/** The organization of the key, and the page that names it. */
interface Identity extends FirstPage {
  readonly orgId: string;
}

/** The result of requesting the newest day. */
interface NewestAnswer {
  /** Undefined if every attempt failed. */
  readonly first: FirstPage | undefined;
  /** The service's clock, from the first answer with a Date header. */
  readonly serverDate: Date | undefined;
  /** The first failure; undefined if there was none. */
  readonly failure: unknown;
}

/** The day to request, and the streams to try. */
interface NewestRequest {
  readonly lastDay: UtcDay;
  readonly streams: readonly Stream[];
}

/**
 * Requests the newest day to learn which organization the key belongs to; the ledger is keyed by it. If one endpoint
 * fails, the others are tried, so that one broken endpoint does not stop the export.
 * @throws the first failure if every attempt failed. An error that ends the run, such as a refused credential, is thrown
 * at once.
 */
export async function identify(
  source: Source,
  { lastDay, streams }: NewestRequest,
  signal: AbortSignal,
): Promise<Identity & Pick<NewestAnswer, 'serverDate'>> {
  // Any endpoint names the organization.
  const every = [...new Set([...streams, ...DAILY_STREAMS])];
  const { first, failure, serverDate } = await requestNewest(
    source,
    { lastDay, streams: every },
    signal,
  ).catch(explainDenial);
  if (first === undefined) throw failure;
  return { orgId: first.page.meta.org_id, ...first, serverDate };
}

function explainDenial(error: unknown): never {
  if (!(error instanceof CredentialError)) throw error;
  const { hint: refusal = 'check the key' } = error;
  throw new RunError(`look up the organization of the key: ${messageOf(error)}`, {
    cause: error,
    exitCode: error.exitCode,
    hint: `${refusal}; for a key that may not read analytics, name the organization`,
    reason: 'organization-unreadable',
    facts: { ...error.facts, status: String(error.status), refusal },
  });
}

/**
 * Requests the newest day until an endpoint answers. It tries the first stream, then a day that is over by the
 * service's clock, then the other streams, and while days are refused up to {@link OLDER_DAYS_MAX} earlier days.
 * @throws an error that ends the run, such as a refused credential.
 */
async function requestNewest(
  source: Source,
  request: NewestRequest,
  signal: AbortSignal,
): Promise<NewestAnswer> {
  const learned: { failure: unknown; serverDate: Date | undefined } = {
    failure: undefined,
    serverDate: undefined,
  };
  for (const unit of candidates(request, learned)) {
    const meter = { requests: 0, retries: 0 };
    try {
      const page = await pullFirstPage(source, { stream: unit.stream, days: [unit.day] }, { signal, meter });
      const serverDate = learned.serverDate ?? parseHttpDate(page.date ?? '');
      return { first: { unit, page, requests: meter.requests }, ...learned, serverDate };
    } catch (error) {
      if (!(error instanceof DaywalkError) || error.effect === 'run') throw error;
      learned.failure ??= error;
      if (error instanceof BadRequestError) learned.serverDate ??= error.serverDate;
      // If the service is down, all endpoints are. Only an error status may concern this endpoint alone.
      else if (error.effect === 'retry' && !('status' in error)) break;
    }
  }
  return { first: undefined, ...learned };
}

/** The units to request, in turn. The answers so far decide which ones follow. */
function* candidates(
  { lastDay, streams }: NewestRequest,
  learned: { readonly failure: unknown; readonly serverDate: Date | undefined },
): Generator<DayUnit, void, void> {
  const [first, ...others] = streams.filter(isDailyStream);
  if (first === undefined) return;
  yield { stream: first, day: lastDay };
  // If this clock is ahead, the service does not have "yesterday" yet.
  const over = learned.serverDate === undefined ? lastDay : yesterdayOf(learned.serverDate);
  const newest = over < lastDay ? over : lastDay;
  const second = newest < lastDay ? newest : shiftDay(lastDay, -1);
  if (second >= FIRST_DAY) yield { stream: first, day: second };
  for (const stream of others) yield { stream, day: newest < FIRST_DAY ? lastDay : newest };
  if (!(learned.failure instanceof BadRequestError)) return;
  for (let days = 1; days <= OLDER_DAYS_MAX; days += 1) {
    const day = shiftDay(second, -days);
    if (day >= FIRST_DAY) yield { stream: first, day };
  }
}

const NOT_FOUND = 404;

/** The most likely cause, and whether it may be temporary. */
const UNREACHED: Readonly<Record<Unreached, { readonly cause: string; readonly isTemporary: boolean }>> = {
  refused: { cause: 'nothing listens there', isTemporary: true },
  'not-json': { cause: 'a web page or another program answers there, not the API', isTemporary: true },
  'not-tls': {
    cause: 'if it is plain HTTP, write http://, which is allowed on this machine only',
    isTemporary: false,
  },
};

const WITHOUT_API = 'the API is not there. Write the scheme and the host alone, like https://api.example.com';

/**
 * Explains an error of the very first requests by its most likely cause, a wrong URL. The exit code is 2 unless the cause
 * may be temporary; then the error keeps its exit code. Returns other errors unchanged.
 */
function firstContactError(error: unknown, baseUrl: string): unknown {
  if (error instanceof ApiError && error.status === NOT_FOUND) {
    return contactError(error, { baseUrl, cause: WITHOUT_API, exitCode: EXIT.usage });
  }
  if (!(error instanceof RequestError) || error.unreached === undefined) return error;
  const { cause, isTemporary } = UNREACHED[error.unreached];
  return isTemporary
    ? contactError(error, {
        baseUrl,
        cause: `${cause}. If it is right, run again later`,
        exitCode: error.exitCode,
      })
    : contactError(error, { baseUrl, cause, exitCode: EXIT.usage });
}

function contactError(
  error: DaywalkError,
  { baseUrl, cause, exitCode }: { baseUrl: string; cause: string; exitCode: ExitCode },
): RunError {
  return new RunError(`reach the service for the first time: ${messageOf(error)}`, {
    cause: error,
    exitCode,
    hint: `check the URL ${baseUrl}: ${cause}`,
    reason: 'first-contact',
    facts: { baseUrl, cause },
  });
}
