import type { AnalyticsPage } from '../../api/index.ts';
import type { Clock } from '../../core/clock.ts';
import { dayOf, daysBetween, FIRST_DAY, shiftDay, type UtcDay, yesterdayOf } from '../../core/day.ts';
import { DaywalkError, RunError } from '../../core/errors.ts';
import { DAILY_STREAMS, isDailyStream, type Stream } from '../../core/stream.ts';
import {
  type AskedContract,
  agreeContract,
  type Contract,
  contractAfter,
  storedContract,
} from '../../expected/index.ts';
import { BadRequestError, parseHttpDate, RequestError } from '../../http/index.ts';
import { FLAPPING, parseFlapping } from '../../judge/flapping.ts';
import { WATCH, watchesOf } from '../../judge/watch-plan.ts';
import { readOrganizationIds, readUnits } from '../../ledger/index.ts';
import {
  expectName,
  type NameInFile,
  organizationOf,
  readIdentities,
  readNames,
} from '../../organizations/index.ts';
import { runReads, type Warehouse } from '../../port/index.ts';
import { readState, readStates } from '../../records/index.ts';
import type { DayUnit } from '../../units/index.ts';
import type { RunObserver } from '../events.ts';
import { type AskedPlan, type PlanRequest, requestUnder } from '../plan.ts';
import { pullFirstPage, type Source } from '../pull.ts';
import { expectAnswerTo } from '../validate.ts';
import { explainDenial, explainFirstContact } from './first-contact.ts';
import { countNamed, countStored, type RunCounts } from './run-counts.ts';

/** What a run knows before it has asked the service. */
interface KnownBefore extends AskedPlan {
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  /** What the settings say about the contract. */
  readonly asked: AskedContract;
  /** @default the organization that the service names for the key */
  readonly orgId?: string | null;
  /** The name of the organization; its identity is then always requested. @default none */
  readonly named?: NameInFile | undefined;
  readonly apiKey?: string | undefined;
}

interface ScopeOptions extends KnownBefore {
  readonly source: Source;
  readonly observe: RunObserver;
}

/** What a run learns before it plans. */
export interface RunScope {
  readonly orgId: string;
  /** The organizations that the warehouse knew, if this one is new to it; empty otherwise. */
  readonly organizationsBefore: readonly string[];
  /** Today by the earlier of the two clocks, this machine's and the service's; fixed for the whole run. */
  readonly today: UtcDay;
  /** What to pull under the contract of the organization; its last day is over by both clocks. */
  readonly request: PlanRequest;
  readonly contract: Contract;
  /** The page that the first successful request returned; undefined if none was sent, or if all failed. */
  readonly first: FirstPage | undefined;
}

/** A clock that is ahead by less matters only around midnight, so there is no warning. */
const SKEW_REPORTED_MS = 10 * 60 * 1000;

/** True if two clocks differ by so much that a person should know. */
export function isSkewed(ms: number): boolean {
  return Math.abs(ms) > SKEW_REPORTED_MS;
}

/**
 * Learns the organization and the last day of a run. Sends nothing if the ID of the organization is given and no analytics
 * are requested.
 * @throws {RunError} with exit code 5 if the service answers for another organization than the given one, or than the name
 * stands for; {@link RunError} if no day of the range is over by the service's clock; and what {@link identify} throws, explained by
 * {@link explainFirstContact} if the warehouse has no organization yet.
 */
export async function learnScope(asking: ScopeOptions, signal: AbortSignal): Promise<RunScope> {
  const { warehouse, named } = asking;
  const known = await readOrganizationIds(warehouse);
  const isNewName =
    named !== undefined && !(await readNames(warehouse)).some(({ name }) => name === named.name);
  const isFirstContact = known.length === 0 || isNewName;
  const likely = await likelyContract(asking);
  const { contract: expected } = likely;
  const options = { ...asking, ...requestUnder(expected, asking) };
  const { orgId, ...newest } = await requestOrganization(options, signal, isFirstContact).catch(
    (error: unknown) => {
      throw isFirstContact ? explainFirstContact(error, options.source.hosts.baseUrl) : error;
    },
  );
  const hasNewName = named !== undefined && !(await expectName(warehouse, named, orgId));
  const organizationsBefore = known.includes(orgId) ? [] : known;
  if (hasNewName || organizationsBefore.length > 0)
    await confirmOrganization(options, orgId, newest.first, signal);
  const { contract, changedFrom } = await agreeContract(warehouse, {
    ...{ orgId, asked: asking.asked, now: asking.clock.now() },
    known: likely.orgId === orgId ? likely.stored : null,
  });
  // Nothing was expected of a new organization before.
  if (changedFrom !== null && known.includes(orgId))
    asking.observe({ type: 'contract-changed', orgId, contract, changedFrom });
  const request = requestUnder(contract, asking);
  const { today, lastDay } = daysByBothClocks({ ...options, ...request }, newest);
  return {
    orgId,
    organizationsBefore,
    today,
    contract,
    request: { ...request, lastDay },
    first: newest.first,
  };
}

/** The contract of the organization that is probably meant, as long as the service has not named it. */
async function likelyContract(options: KnownBefore) {
  const [only, ...others] = await candidatesFor(options);
  const orgId = only === undefined || others.length > 0 ? null : only;
  const stored = orgId === null ? null : await runReads(options.warehouse, storedContract(orgId));
  return { orgId, stored, contract: contractAfter(stored?.contract ?? null, options.asked) };
}

/** The organizations that may be meant, before the service has named the one of the key. */
async function candidatesFor(options: KnownBefore): Promise<string[]> {
  const known = await knownFor(options);
  if (known !== null) return [known];
  return options.named === undefined ? readOrganizationIds(options.warehouse) : [];
}

/**
 * The organization that is set, that the name stands for, or else that the key has answered for, unless another name of the file stands
 * for it; null if no run has had it.
 */
async function knownFor({ warehouse, orgId, named, apiKey }: KnownBefore): Promise<string | null> {
  const recorded = named === undefined ? [] : await readNames(warehouse);
  const own = orgId ?? recorded.find(({ name }) => name === named?.name)?.orgId;
  if (own !== undefined || !apiKey) return own ?? null;
  const byKey = organizationOf(await readIdentities(warehouse), apiKey);
  return recorded.some((known) => known.orgId === byKey && named?.names.includes(known.name)) ? null : byKey;
}

/**
 * Counts what is open of an organization that the service has not named: of the one that is known for it, or else of the only one.
 * @returns the one that is known for it, if something of it is stored
 */
export async function countBefore(counts: RunCounts, options: KnownBefore): Promise<string | null> {
  const { warehouse, clock } = options;
  try {
    const { orgId, contract } = await likelyContract(options);
    if (orgId === null) return null;
    const request = requestUnder(contract, options);
    const today = dayOf(clock.now());
    const scope = { streams: request.streams, expected: contract.streams, today };
    const { own } = watchesOf(await readStates(warehouse, orgId, WATCH), scope);
    const flapping = parseFlapping(await readState(warehouse, orgId, FLAPPING), today);
    countNamed(counts, { mass: own.mass ?? null, flapping, today });
    const units = await readUnits(warehouse, orgId);
    await countStored(counts, { warehouse, orgId, request, units });
    return units.length > 0 ? await knownFor(options) : null;
  } catch {
    // The run reports an unreadable warehouse when it records its end.
    return null;
  }
}

/** What is asked for, under the contract that is probably meant. */
type LikelyRequest = ScopeOptions & PlanRequest;

type KnownOrganization = { readonly orgId: string } & Pick<NewestAnswer, 'first' | 'serverDate'>;

async function requestOrganization(
  options: LikelyRequest,
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
  const isWrongUrl = isFirstContact && explainFirstContact(failure, source.hosts.baseUrl) !== failure;
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
  { clock, observe, firstDay, lastDay }: LikelyRequest,
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
  if (isSkewed(now.getTime() - serverDate.getTime()))
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
      // If nothing answers, or something other than the service, all endpoints fail. Any other failure may be of this one alone.
      else if (error instanceof RequestError && (error.isSilence || error.unreached !== undefined)) break;
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
