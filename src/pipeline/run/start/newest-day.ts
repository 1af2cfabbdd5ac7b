import { BadRequestError, CredentialError } from '../../../api/errors.ts';
import { parseHttpDate } from '../../../api/response/retry-after.ts';
import type { AnalyticsPage } from '../../../api/walk/pages.ts';
import { FIRST_DAY, shiftDay, type UtcDay, yesterdayOf } from '../../../core/day.ts';
import { DaywalkError, messageOf, RunError } from '../../../core/errors.ts';
import { DAILY_STREAMS, isDailyStream, type Stream } from '../../../core/stream.ts';
import type { DayUnit } from '../../../warehouse/port.ts';
import { pullFirstPage, type Source } from '../../pull.ts';

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
export interface Identity extends FirstPage {
  readonly orgId: string;
}

/** The result of requesting the newest day. */
export interface NewestAnswer {
  /** Undefined if every attempt failed. */
  readonly first: FirstPage | undefined;
  /** The service's clock, from the first answer with a Date header. */
  readonly serverDate: Date | undefined;
  /** The first failure; undefined if there was none. */
  readonly failure: unknown;
}

/** The day to request, and the streams to try. */
export interface NewestRequest {
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
  throw new RunError(`look up the organization of the key: ${messageOf(error)}`, {
    cause: error,
    exitCode: error.exitCode,
    hint: `${error.hint ?? 'check the key'}; for a key that may not read analytics, name the organization`,
    reason: 'organization-unreadable',
    facts: { status: String(error.status) },
  });
}

/**
 * Requests the newest day until an endpoint answers. It tries the first stream, then a day that is over by the
 * service's clock, then the other streams, and while days are refused up to {@link OLDER_DAYS_MAX} earlier days.
 * @throws an error that ends the run, such as a refused credential.
 */
export async function requestNewest(
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
