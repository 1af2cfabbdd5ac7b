import { tables } from '../../schema/tables.ts';
import { isDay, shiftDay, type UtcDay } from '../core/day.ts';
import { type Contract, contractOf } from '../expected/index.ts';
import { LOOKS } from '../judge/looks.ts';
import { readReportIds, readUnits } from '../ledger/index.ts';
import { readIdentities } from '../organizations/index.ts';
import { type RunLock, runReads, type Warehouse } from '../port/index.ts';
import { readState } from '../records/index.ts';
import type { LedgerUnit } from '../units/index.ts';
import { type PlanRequest, planUnits } from './plan.ts';
import type { ForecastFacts } from './request-forecast.ts';
import { KnownLedger } from './run/known-ledger.ts';
import { RANGES, rememberedRange } from './run/range-gauge.ts';
import { Watch } from './run/watch.ts';

/** The facts that the warehouse provides. */
type Learned = Pick<
  ForecastFacts,
  'ledger' | 'remembered' | 'comparedAfter' | 'watch' | 'usersOn' | 'reports'
>;
/** The facts that the caller provides. */
export type AskedFacts = Omit<ForecastFacts, keyof Learned>;

/** The facts about an organization that no run has pulled yet. */
export const NOTHING_KNOWN: Learned = {
  ledger: [],
  remembered: null,
  comparedAfter: '',
  watch: null,
  usersOn: () => 0,
  reports: 0,
};

/** Reads the facts about one organization. Writes nothing and claims nothing. */
export async function readFacts(
  warehouse: Warehouse,
  orgId: string,
  asked: AskedFacts,
  settings: { readonly watchDays: number; readonly watchRequests: number | null },
): Promise<ForecastFacts> {
  const { request, today } = asked;
  const ledger = await readUnits(warehouse, orgId);
  const remembered = rememberedRange(await readState(warehouse, orgId, RANGES), today);
  const rangeDays = remembered === null ? 1 : Math.min(asked.rangeDays, remembered.days);
  const contract = await runReads(warehouse, contractOf(orgId));
  const watch = await watchOf({
    ...{ ...settings, orgId, warehouse, ledger, request, contract, today, rangeDays },
  });
  const compared = [...watch.recent, ...watch.older];
  const users = [...planUnits(request, ledger, asked).units, ...compared].flatMap(({ stream, day }) =>
    stream === 'users' ? [day] : [],
  );
  return {
    ...asked,
    ledger,
    watch,
    remembered,
    comparedAfter: (await readIdentities(warehouse)).get(orgId)?.acceptedAfter ?? '',
    usersOn: userCounter(await readUsers(warehouse, orgId, users)),
    reports: request.streams.includes('readiness') ? (await readReportIds(warehouse, orgId)).length : 0,
  };
}

/** Reads which users were active from some days before the first of `days` on. Users get numbers in the order of reading. */
async function readUsers(
  warehouse: Warehouse,
  orgId: string,
  days: readonly UtcDay[],
): Promise<ReadonlyMap<UtcDay, readonly number[]>> {
  const [first] = days.toSorted();
  const byDay = new Map<UtcDay, number[]>();
  if (first === undefined) return byDay;
  const numbers = new Map<string, number>();
  const scope = { orgId, firstDay: shiftDay(first, -USERS_KNOWN_DAYS) };
  for await (const rows of warehouse.scan(tables.userDaily, scope, ['date', 'user_id'])) {
    for (const [date, userId] of rows) {
      if (!isDay(date)) continue;
      const number = numbers.get(String(userId)) ?? numbers.size;
      numbers.set(String(userId), number);
      const held = byDay.get(date) ?? [];
      held.push(number);
      byDay.set(date, held);
    }
  }
  return byDay;
}

/** Begins a watch that shows what a run would compare now. Claims nothing and writes nothing. */
function watchOf(options: {
  readonly orgId: string;
  readonly warehouse: Warehouse;
  readonly ledger: readonly LedgerUnit[];
  readonly request: PlanRequest;
  readonly contract: Contract;
  readonly today: UtcDay;
  readonly watchDays: number;
  readonly watchRequests: number | null;
  readonly rangeDays: number;
}): Promise<Watch> {
  const lock: RunLock = {
    claim: async () => [],
    claimWatch: async () => true,
    wasLost: () => false,
    free: async () => undefined,
    release: async () => undefined,
  };
  return Watch.begin({
    ...options,
    looksMin: LOOKS,
    identities: [],
    lock,
    ledger: new KnownLedger(options.ledger),
  });
}

/** Stored days before the planned ones whose users are likely to be active on days that are not stored yet. */
const USERS_KNOWN_DAYS = 7;

/**
 * Counts distinct users. For days that are not stored, it uses the same number of days back from the newest stored one, at
 * most {@link USERS_KNOWN_DAYS}.
 */
function userCounter(usersByDay: ReadonlyMap<UtcDay, readonly number[]>): ForecastFacts['usersOn'] {
  const newest = [...usersByDay.keys()].toSorted().at(-1);
  return (days) => {
    const users = new Set<number>();
    let missing = 0;
    for (const day of days) {
      const stored = usersByDay.get(day);
      if (stored === undefined) missing += 1;
      for (const user of stored ?? []) users.add(user);
    }
    if (newest === undefined || missing === 0) return users.size;
    const likely = Array.from({ length: Math.min(missing, USERS_KNOWN_DAYS) }, (_, back) =>
      shiftDay(newest, -back),
    );
    for (const day of likely) for (const user of usersByDay.get(day) ?? []) users.add(user);
    return users.size;
  };
}
