import type { Clock } from '../../../core/clock.ts';
import { dayOf, daysBetween, FIRST_DAY, shiftDay, type UtcDay } from '../../../core/day.ts';
import { RunError } from '../../../core/errors.ts';
import { DAILY_STREAMS, isDailyStream } from '../../../core/stream.ts';
import { expectName, type NameInFile, readNames } from '../../../warehouse/organization-names.ts';
import type { Warehouse } from '../../../warehouse/port.ts';
import type { RunObserver } from '../../events.ts';
import type { Source } from '../../pull.ts';
import { expectAnswerTo } from '../../validate.ts';
import { firstContactError } from './first-contact.ts';
import {
  type FirstPage,
  identify,
  type NewestAnswer,
  type NewestRequest,
  requestNewest,
} from './newest-day.ts';

export interface ScopeOptions extends NewestRequest {
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
  const known = await warehouse.organizations();
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
