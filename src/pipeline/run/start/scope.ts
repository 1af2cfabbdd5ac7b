import type { Clock } from '../../../core/clock.ts';
import { dayOf, daysBetween, FIRST_DAY, shiftDay, type UtcDay } from '../../../core/day.ts';
import { RunError } from '../../../core/errors.ts';
import { DAILY_STREAMS, isDailyStream } from '../../../core/stream.ts';
import type { Warehouse } from '../../../warehouse/port.ts';
import type { RunObserver } from '../../events.ts';
import type { Source } from '../../pull.ts';
import { expectAnswerTo } from '../../validate.ts';
import { firstContactError } from './first-contact.ts';
import { askNewest, type FirstPage, identify, type NewestAnswer, type NewestRequest } from './newest-day.ts';

/** What a run must know to begin. */
export interface ScopeOptions extends NewestRequest {
  readonly source: Source;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly observe: RunObserver;
  readonly firstDay: UtcDay;
  /** The organization, where it is named; the service is asked for it otherwise. */
  readonly orgId?: string | null;
}

/** What a run knows before it plans. */
export interface RunScope {
  readonly orgId: string;
  /** What the warehouse knew before, where this organization is a further one; empty where it is not. */
  readonly organizationsBefore: readonly string[];
  /** Today, by the earlier one of this machine's clock and the service's; fixed for the whole run. */
  readonly today: UtcDay;
  /** The last day that is asked for. */
  readonly lastDay: UtcDay;
  /** A page that was asked for already; undefined where none was, or none came. */
  readonly first: FirstPage | undefined;
}

/** A clock that is ahead by less makes no difference but around midnight; nobody needs to be told. */
const SKEW_TOLD_MS = 10 * 60 * 1000;

/**
 * Learns whose data it will be and up to which day. Where the organization is named and no analytics are asked for,
 * nothing is sent.
 * @throws {RunError} with exit code 5 when the service answers about another organization than the one named; what
 * {@link identify} throws, where the warehouse knows no organization yet as {@link firstContactError} explains it;
 * {@link RunError} when no day of the range is over by the service's clock.
 */
export async function learnScope(options: ScopeOptions, signal: AbortSignal): Promise<RunScope> {
  const known = await options.warehouse.organizations();
  const { orgId, ...newest } = await answering(options, signal, known.length === 0).catch(
    (error: unknown) => {
      throw known.length === 0 ? firstContactError(error, options.source.hosts.baseUrl) : error;
    },
  );
  const organizationsBefore = known.includes(orgId) ? [] : known;
  if (organizationsBefore.length > 0) await confirmOrganization(options, orgId, newest.first, signal);
  return {
    orgId,
    organizationsBefore,
    ...daysByBothClocks(options, newest),
    first: newest.first,
  };
}

type Answering = { readonly orgId: string } & Pick<NewestAnswer, 'first' | 'serverDate'>;

async function answering(
  options: ScopeOptions,
  signal: AbortSignal,
  isFirstContact: boolean,
): Promise<Answering> {
  const { source, streams, orgId } = options;
  if (orgId === undefined || orgId === null) {
    const { unit, page, requests, ...found } = await identify(source, options, signal);
    return { ...found, first: { unit, page, requests } };
  }
  if (!streams.some(isDailyStream)) return { orgId, first: undefined, serverDate: undefined };
  const { first, serverDate, failure } = await askNewest(source, options, signal);
  // Where nothing was ever answered, the failure of every attempt may tell of the URL, not of a day.
  const isWrongUrl = isFirstContact && firstContactError(failure, source.hosts.baseUrl) !== failure;
  if (first === undefined && isWrongUrl) throw failure;
  if (first !== undefined) {
    const { stream, day } = first.unit;
    expectAnswerTo(first.page, orgId, { stream, days: [day] });
  }
  return { orgId, first, serverDate };
}

/**
 * Makes sure that a further organization is not the mistake of one answer: everything of the run would be stored under it.
 * @throws {RunError} with exit code 5 when a second answer names another one; the first failure when none came.
 */
async function confirmOrganization(
  { source }: ScopeOptions,
  orgId: string,
  told: FirstPage | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (told === undefined) return;
  const { stream, day } = told.unit;
  const streams = DAILY_STREAMS.filter((other) => other !== stream);
  const { first, failure } = await askNewest(source, { lastDay: day, streams }, signal);
  if (first === undefined) throw failure;
  expectAnswerTo(first.page, orgId, { stream: first.unit.stream, days: [first.unit.day] });
}

/**
 * Today and the last day by the earlier clock. A day ahead leaves the last day as it is: it is asked for, and awaited
 * if the service refuses it. A clock that is further ahead would make a row of days fail, and others settle too early.
 */
function daysByBothClocks(
  { clock, observe, firstDay, lastDay }: ScopeOptions,
  { first, serverDate }: Pick<NewestAnswer, 'first' | 'serverDate'>,
): { today: UtcDay; lastDay: UtcDay } {
  const now = clock.now();
  const today = dayOf(now);
  const serverDay = serverDate === undefined ? today : dayOf(serverDate);
  const daysAhead = daysBetween(serverDay, today);
  // A service with data of a day that is not over by its Date header has another clock than that.
  const hasLaterData = first !== undefined && first.unit.day >= serverDay && first.page.data.length > 0;
  const isDisproved = hasLaterData || serverDay <= FIRST_DAY;
  if (serverDate === undefined || daysAhead <= 0 || isDisproved) return { today, lastDay };
  const clocks = `this machine's clock says ${now.toISOString()}, the service's says ${serverDate.toISOString()}`;
  const hint = "correct this machine's clock: it is ahead of the service's";
  const yesterday = shiftDay(serverDay, -1);
  const capped = daysAhead > 1 && yesterday < lastDay ? yesterday : lastDay;
  if (capped < firstDay)
    throw new RunError(`${clocks}, by which no day from ${firstDay} on is over`, { hint });
  if (now.getTime() - serverDate.getTime() > SKEW_TOLD_MS)
    observe({ type: 'warning', message: `${clocks}; the run goes by the earlier one`, hint });
  return { today: serverDay, lastDay: capped };
}
