import { BadRequestError, CredentialError } from '../../../api/errors.ts';
import { parseHttpDate } from '../../../api/response/retry-after.ts';
import type { AnalyticsPage } from '../../../api/walk/pages.ts';
import { FIRST_DAY, shiftDay, type UtcDay, yesterdayOf } from '../../../core/day.ts';
import { DaywalkError, messageOf, RunError } from '../../../core/errors.ts';
import { DAILY_STREAMS, isDailyStream, type Stream } from '../../../core/stream.ts';
import type { DayUnit } from '../../../warehouse/port.ts';
import { pullFirstPage, type Source } from '../../pull.ts';

/** Days before the newest one that are tried when it is refused. */
const OLDER_DAYS_MAX = 7;

/** The first page of a unit, which need not be asked for again. */
export interface FirstPage {
  readonly unit: DayUnit;
  readonly page: AnalyticsPage;
  /** What that page cost. */
  readonly requests: number;
}

/** Who answers, and the page that told it. */
export interface Identity extends FirstPage {
  readonly orgId: string;
}

/** What came of asking for the newest day. */
export interface NewestAnswer {
  /** Undefined when every attempt failed. */
  readonly first: FirstPage | undefined;
  /** The service's clock, from the first answer that told it. */
  readonly serverDate: Date | undefined;
  /** The first failure; undefined when there was none. */
  readonly failure: unknown;
}

/** Which day is asked for, and of which streams. */
export interface NewestRequest {
  readonly lastDay: UtcDay;
  readonly streams: readonly Stream[];
}

/**
 * Asks for the newest day to learn which organization the key belongs to; the ledger is keyed by it. When one endpoint
 * fails, the others are tried, so that one broken endpoint does not keep the rest from being exported.
 * @throws the first failure, when every attempt failed; at once what ends the run, such as a refused credential.
 */
export async function identify(
  source: Source,
  { lastDay, streams }: NewestRequest,
  signal: AbortSignal,
): Promise<Identity & Pick<NewestAnswer, 'serverDate'>> {
  // Any endpoint says whose the key is.
  const every = [...new Set([...streams, ...DAILY_STREAMS])];
  const { first, failure, serverDate } = await askNewest(source, { lastDay, streams: every }, signal).catch(
    deniedLookUp,
  );
  if (first === undefined) throw failure;
  return { orgId: first.page.meta.org_id, ...first, serverDate };
}

function deniedLookUp(error: unknown): never {
  if (!(error instanceof CredentialError)) throw error;
  const hint = error.hint === undefined ? '' : `${error.hint}; `;
  throw new RunError(`look up the organization of the key: ${messageOf(error)}`, {
    cause: error,
    exitCode: error.exitCode,
    hint: `${hint}for a key that may not read analytics, name the organization with --org-id`,
  });
}

/**
 * Asks for the newest day until an endpoint answers: the first stream, then a day that is over by the service's own
 * clock, then the other streams, then days up to {@link OLDER_DAYS_MAX} before, for as long as days are refused.
 * @throws what ends the run, such as a refused credential.
 */
export async function askNewest(
  source: Source,
  request: NewestRequest,
  signal: AbortSignal,
): Promise<NewestAnswer> {
  const told: { failure: unknown; serverDate: Date | undefined } = {
    failure: undefined,
    serverDate: undefined,
  };
  for (const unit of candidates(request, told)) {
    const meter = { requests: 0, retries: 0 };
    try {
      const page = await pullFirstPage(source, { stream: unit.stream, days: [unit.day] }, { signal, meter });
      const serverDate = told.serverDate ?? parseHttpDate(page.date ?? '');
      return { first: { unit, page, requests: meter.requests }, ...told, serverDate };
    } catch (error) {
      if (!(error instanceof DaywalkError) || error.effect === 'run') throw error;
      told.failure ??= error;
      if (error instanceof BadRequestError) told.serverDate ??= error.serverDate;
      // A service that is down is down for every endpoint; only a refusal says something about this one.
      else if (error.effect === 'retry' && !('status' in error)) break;
    }
  }
  return { first: undefined, ...told };
}

/** The units to ask for, in turn. What was told by the answers so far decides on those that follow. */
function* candidates(
  { lastDay, streams }: NewestRequest,
  told: { readonly failure: unknown; readonly serverDate: Date | undefined },
): Generator<DayUnit, void, void> {
  const [first, ...others] = streams.filter(isDailyStream);
  if (first === undefined) return;
  yield { stream: first, day: lastDay };
  // A clock that is ahead makes "yesterday" a day that the service does not answer yet.
  const over = told.serverDate === undefined ? lastDay : yesterdayOf(told.serverDate);
  const newest = over < lastDay ? over : lastDay;
  const second = newest < lastDay ? newest : shiftDay(lastDay, -1);
  if (second >= FIRST_DAY) yield { stream: first, day: second };
  for (const stream of others) yield { stream, day: newest < FIRST_DAY ? lastDay : newest };
  if (!(told.failure instanceof BadRequestError)) return;
  for (let days = 1; days <= OLDER_DAYS_MAX; days += 1) {
    const day = shiftDay(second, -days);
    if (day >= FIRST_DAY) yield { stream: first, day };
  }
}
