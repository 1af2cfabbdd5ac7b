import { BadRequestError } from '../../api/http/errors.ts';
import type { AnalyticsPage } from '../../api/pages.ts';
import { FIRST_DAY, shiftDay, type UtcDay } from '../../core/day.ts';
import { DaywalkError } from '../../core/errors.ts';
import { DAILY_STREAMS, type DailyStream, isDailyStream, type Stream } from '../../core/stream.ts';
import type { DayUnit } from '../plan.ts';
import { pullFirstPage, type Source } from '../pull.ts';

/** Who answers, and the page that told it: the first page of a unit, which need not be asked for again. */
export interface Identity {
  readonly orgId: string;
  readonly unit: DayUnit;
  readonly page: AnalyticsPage;
  /** What that page cost. */
  readonly requests: number;
}

/**
 * Asks for the newest day to learn which organization the key belongs to; the ledger is keyed by it. When one endpoint
 * fails, the others are tried, so that one broken endpoint does not keep the rest from being exported.
 * @throws the first failure, when every attempt failed; at once what ends the run, such as a refused credential.
 */
export async function identify(
  source: Source,
  { lastDay, streams }: { lastDay: UtcDay; streams: readonly Stream[] },
  signal: AbortSignal,
): Promise<Identity> {
  let first: unknown;
  for (const unit of candidates(lastDay, streams)) {
    const meter = { requests: 0, retries: 0 };
    try {
      const page = await pullFirstPage(source, { stream: unit.stream, days: [unit.day] }, { signal, meter });
      return { orgId: page.meta.org_id, unit, page, requests: meter.requests };
    } catch (error) {
      if (!(error instanceof DaywalkError) || error.effect === 'run') throw error;
      first ??= error;
      // A service that is down is down for every endpoint; only a refusal says something about this one.
      if (error.effect === 'retry' && !isAnswer(error)) throw first;
    }
  }
  throw first;
}

function candidates(lastDay: UtcDay, streams: readonly Stream[]): DayUnit[] {
  const asked = streams.filter(isDailyStream);
  const others = DAILY_STREAMS.filter((stream) => !asked.includes(stream));
  const units = [...asked, ...others].map((stream: DailyStream) => ({ stream, day: lastDay }));
  // A clock that is ahead makes "yesterday" a day that the service does not answer yet.
  const before =
    lastDay > FIRST_DAY ? units.slice(0, 1).map((unit) => ({ ...unit, day: shiftDay(lastDay, -1) })) : [];
  return [...units.slice(0, 1), ...before, ...units.slice(1)];
}

function isAnswer(error: DaywalkError): boolean {
  return error instanceof BadRequestError || 'status' in error;
}
