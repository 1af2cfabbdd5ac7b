import { sql } from '../../../schema/query.ts';
import type { Clock } from '../../core/clock.ts';
import { isDay, type UtcDay } from '../../core/day.ts';
import {
  DaywalkError,
  type Facts,
  messageOf,
  RequestsSpentError,
  RULES,
  RunError,
} from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { isObject } from '../../core/json.ts';
import { isDailyStream, type Stream } from '../../core/stream.ts';
import { BadRequestError, CredentialError } from '../../http/index.ts';
import {
  areRefused,
  areTooFew,
  daysToCompare,
  judgeUsers,
  type UserDay,
  type UsersVerdict,
} from '../../judge/foreign.ts';
import {
  type Identities,
  type NameInFile,
  organizationOf,
  type Refusal,
  readIdentities,
  recordAccepted,
  recordRefusal,
  refusedUser,
} from '../../organizations/index.ts';
import type { Warehouse } from '../../port/index.ts';
import { readState } from '../../records/index.ts';
import { isDayUnit, type LedgerUnit } from '../../units/index.ts';
import type { RunObserver } from '../events.ts';
import { type DayBatch, rangeOf } from '../plan.ts';
import { pullFirstPage, type Source } from '../pull.ts';
import { expectAnswerTo } from '../validate.ts';
import { allowedRange, RANGES, rememberedRange } from './range-gauge.ts';
import type { FirstPage, RunScope } from './start.ts';

/** What a person accepts about the organization of a key. */
export interface OrganizationConsent {
  /** Accept the users of an organization that an earlier run refused. @default false */
  readonly acceptOrganization?: boolean;
  /** The ID of an organization that this key may answer for from now on. @default none */
  readonly newOrganization?: string | undefined;
}

interface ForeignOptions extends OrganizationConsent {
  readonly warehouse: Warehouse;
  readonly source: Source;
  readonly clock: Clock;
  readonly observe: RunObserver;
  readonly streams: readonly Stream[];
  readonly rangeDays: number;
  /** The key, which is bound to the organization. @default it is not */
  readonly apiKey?: string | undefined;
  /** The organization that the settings name. @default none */
  readonly orgId?: string | null;
  readonly named?: NameInFile | undefined;
}

/** What the check of the organization has requested. */
interface ForeignLook {
  /** First pages of single days, which the run need not request again. */
  readonly pages: readonly FirstPage[];
  /** The number of days of a range that the service refused; null if it refused none. */
  readonly refusedDays: number | null;
}

/** At most this many users of the answer are looked up; a page has 100. */
const USERS_COMPARED_MAX = 200;

/**
 * Makes sure that the answers are about the organization that the warehouse holds, before anything of them is stored: its key is
 * not bound to another one, and the users of stored days are still the same. Then binds the key to it.
 * @throws {RunError} with exit code 5 if they are not. The refusal is recorded, and nothing else.
 */
export async function expectSameOrganization(
  options: ForeignOptions,
  { orgId, first, organizationsBefore, today }: RunScope,
  ledger: readonly LedgerUnit[],
  signal: AbortSignal,
): Promise<ForeignLook> {
  const { warehouse, clock, streams, apiKey = null } = options;
  const identities = await readIdentities(warehouse);
  const refusal = bindingRefusal(options, { orgId, organizationsBefore, identities });
  if (refusal !== null) await refuse(options, refusal);
  const wasAsked = first !== undefined || streams.some(isDailyStream);
  const identity = identities.get(orgId);
  // A clock that was ahead may have stored days that the service refuses today.
  const stored = daysWithUsers(ledger).filter((day) => day < today && day > (identity?.acceptedAfter ?? ''));
  // The key may be one that cannot read analytics.
  const look = wasAsked ? await lookAtUsers(options, { orgId, today, stored }, signal) : NOT_LOOKED;
  let acceptedAfter: UtcDay | undefined;
  if (look.verdict?.isForeign === true) {
    const { refused = null, refusedUsers = [] } = identity ?? {};
    const isKnown = (userId: string) => refusedUsers.includes(refusedUser(orgId, userId));
    const isAccepted =
      options.acceptOrganization === true &&
      refused?.rule === 'foreign-users' &&
      areRefused(look.verdict.people, isKnown);
    if (!isAccepted) await refuse(options, { orgId, rule: 'foreign-users', expected: orgId }, look.verdict);
    acceptedAfter = stored.at(-1);
  }
  // Without an answer, nothing says whose key it is.
  const key = first === undefined ? null : apiKey;
  await recordAccepted(warehouse, { orgId, apiKey: key, acceptedAfter }, clock.now());
  return look;
}

type FoundRefusal = Pick<Refusal, 'orgId' | 'rule' | 'expected'>;

/** Why a key may not answer for an organization; null if it may. */
export function bindingRefusal(
  {
    apiKey,
    named,
    newOrganization,
    orgId: given,
  }: Pick<ForeignOptions, 'apiKey' | 'named' | 'newOrganization' | 'orgId'>,
  {
    orgId,
    organizationsBefore,
    identities,
  }: Pick<RunScope, 'orgId' | 'organizationsBefore'> & { readonly identities: Identities },
): FoundRefusal | null {
  if (given === orgId || newOrganization === orgId) return null;
  const bound = apiKey === undefined ? null : organizationOf(identities, apiKey);
  if (bound === orgId) return null;
  if (bound !== null) return { orgId, rule: 'other-organization', expected: bound };
  if (organizationsBefore.length === 0 || named !== undefined) return null;
  const [only, ...others] = organizationsBefore;
  const expected = others.length === 0 ? (only ?? null) : null;
  return { orgId, rule: 'new-organization', expected };
}

async function refuse(
  { warehouse, clock }: ForeignOptions,
  refusal: FoundRefusal,
  verdict?: UsersVerdict,
): Promise<never> {
  await recordRefusal(warehouse, refusal, clock.now(), verdict?.people);
  throw refusalError(refusal, verdict);
}

/** The error that ends a run whose organization is refused, with exit code 5. */
export function refusalError({ orgId, rule, expected }: FoundRefusal, verdict?: UsersVerdict): RunError {
  const counts =
    verdict === undefined ? '' : `: ${verdict.known} of the ${verdict.rows} rows on the first page are known`;
  const other = expected === null || expected === orgId ? '' : `, and ${expected} is expected`;
  const facts: Facts = { orgId, ...(expected !== null && { expected }) };
  return new RunError(
    `the service answers for organization "${orgId}"${other}: ${RULES[rule]}${counts}. Nothing was stored`,
    {
      exitCode: EXIT.quarantine,
      hint: 'check the key and the URL; if this organization is meant, accept it',
      reason: rule,
      facts,
    },
  );
}

interface Look extends ForeignLook {
  /** Null if nothing could be compared. */
  readonly verdict: UsersVerdict | null;
}

const NOT_LOOKED: Look = { pages: [], refusedDays: null, verdict: null };

/** The days on which users are stored. */
export function daysWithUsers(ledger: readonly LedgerUnit[]): UtcDay[] {
  return ledger
    .filter(isDayUnit)
    .flatMap(({ stream, day, rows }) => (stream === 'users' && rows > 0 ? [day] : []))
    .toSorted();
}

/** Requests the first page of stored days, and compares its users with the stored ones. */
async function lookAtUsers(
  options: ForeignOptions,
  { orgId, today, stored }: { orgId: string; today: UtcDay; stored: readonly UtcDay[] },
  signal: AbortSignal,
): Promise<Look> {
  const { warehouse, rangeDays } = options;
  const remembered = rememberedRange(await readState(warehouse, orgId, RANGES), today);
  const { range, alone } = daysToCompare(stored, allowedRange(rangeDays, remembered));
  const [first] = range;
  const last = range.at(-1);
  let refusedDays: number | null = null;
  if (first !== undefined && last !== undefined) {
    const batch = rangeOf('users', first, last);
    const page = await askPage(options, { orgId, batch }, signal);
    if (page !== null && page !== 'refused')
      return { ...NOT_LOOKED, verdict: await judge(options, orgId, range, [page]) };
    // A request that failed says nothing about the ranges that the service allows.
    if (page === 'refused') refusedDays = batch.days.length;
  }
  const pages: FirstPage[] = [];
  for (const day of alone) {
    const page = await askPage(options, { orgId, batch: { stream: 'users', days: [day] } }, signal);
    if (page === null || page === 'refused') return { ...NOT_LOOKED, pages, refusedDays };
    pages.push(page);
  }
  return { pages, refusedDays, verdict: await judge(options, orgId, alone, pages) };
}

/**
 * The first page of a batch; `refused` if the service refuses such a request (400), and null if it does not answer it. Neither says anything
 * about the organization.
 * @throws what ends the run: an answer about another organization, a rejected key, a spent budget, a stop.
 */
async function askPage(
  { source, observe }: ForeignOptions,
  { orgId, batch }: { readonly orgId: string; readonly batch: DayBatch },
  signal: AbortSignal,
): Promise<FirstPage | 'refused' | null> {
  const meter = { requests: 0, retries: 0 };
  try {
    const page = await pullFirstPage(source, batch, { signal, meter });
    expectAnswerTo(page, orgId, batch);
    return { unit: { stream: 'users', day: batch.days[0] }, page, requests: meter.requests };
  } catch (error) {
    if (!(error instanceof DaywalkError) || error instanceof RequestsSpentError || signal.aborted)
      throw error;
    const isDenied = error instanceof CredentialError && error.status === 403;
    if (error.effect === 'run' && !isDenied) throw error;
    if (batch.days.length === 1) {
      const message = `the users of stored days could not be compared: ${messageOf(error)}`;
      observe({
        type: 'warning',
        message,
        hint: 'until they can, only the key shows whose answers these are',
      });
    }
    return error instanceof BadRequestError ? 'refused' : null;
  }
}

async function judge(
  { warehouse }: ForeignOptions,
  orgId: string,
  days: readonly UtcDay[],
  pages: readonly FirstPage[],
): Promise<UsersVerdict> {
  const answered = usersOf(pages, new Set(days));
  const people = new Set([...answered.values()].map(({ userId }) => userId));
  const ids = [...people].map((userId) => sql`${userId}`);
  const list = sql.join(
    days.map((day) => sql`${day}`),
    sql`, `,
  );
  const rows =
    ids.length === 0
      ? []
      : await warehouse.select(sql`
SELECT CAST(date AS TEXT) AS day, user_id FROM user_daily
WHERE org_id = ${orgId} AND date IN (${list}) AND user_id IN (${sql.join(ids, sql`, `)})`);
  const stored = new Set(rows.map((row) => nameOf(String(row['day']), String(row['user_id']))));
  const verdict = judgeUsers([...answered.values()], ({ day, userId }) => stored.has(nameOf(day, userId)));
  if (!verdict.isForeign) return verdict;
  const [row] = await warehouse.select(
    sql`SELECT COUNT(DISTINCT user_id) AS people FROM user_daily WHERE org_id = ${orgId} AND date IN (${list})`,
  );
  return { ...verdict, isForeign: !areTooFew(Number(row?.['people'] ?? 0)) };
}

/** The users of pages on some days, each once, as they would be stored. */
function usersOf(pages: readonly FirstPage[], days: ReadonlySet<UtcDay>): ReadonlyMap<string, UserDay> {
  const found = new Map<string, UserDay>();
  const people = new Set<string>();
  for (const { page } of pages) {
    for (const row of page.data) {
      if (!isObject(row)) continue;
      const { date: day, user_id: userId } = row;
      if (!isDay(day) || !days.has(day) || typeof userId !== 'string') continue;
      if (people.size >= USERS_COMPARED_MAX && !people.has(userId)) continue;
      people.add(userId);
      found.set(nameOf(day, userId), { day, userId });
    }
  }
  return found;
}

function nameOf(day: string, userId: string): string {
  return `${day} ${userId}`;
}
