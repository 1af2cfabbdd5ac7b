import { tables } from '../../../schema/tables.ts';
import { isDay, shiftDay, type UtcDay } from '../../core/day.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { planUnits } from '../plan.ts';
import { rememberedRange } from '../run/schedule/range-gauge.ts';
import { RANGES } from '../run/schedule/remembered-range.ts';
import { type ForecastFacts, USERS_KNOWN_DAYS, userCounter, watchOf } from './requests.ts';

/** The facts that the warehouse provides. */
type Learned = Pick<ForecastFacts, 'ledger' | 'remembered' | 'watch' | 'usersOn' | 'reports'>;
/** The facts that the caller provides. */
export type AskedFacts = Omit<ForecastFacts, keyof Learned>;

/** The facts about an organization that no run has pulled yet. */
export const NOTHING_KNOWN: Learned = {
  ledger: [],
  remembered: null,
  watch: null,
  usersOn: () => 0,
  reports: 0,
};

/** Reads the facts about one organization. Writes nothing and claims nothing. */
export async function readFacts(
  warehouse: Warehouse,
  orgId: string,
  asked: AskedFacts,
  watchDays: number,
): Promise<ForecastFacts> {
  const { request, today } = asked;
  const ledger = await warehouse.units(orgId);
  const watch = await watchOf({ orgId, warehouse, ledger, request, today, watchDays });
  const users = [...planUnits(request, ledger).units, ...watch.recent].flatMap(({ stream, day }) =>
    stream === 'users' ? [day] : [],
  );
  return {
    ...asked,
    ledger,
    watch,
    remembered: rememberedRange(await warehouse.state(orgId, RANGES), today),
    usersOn: userCounter(await readUsers(warehouse, orgId, users)),
    reports: request.streams.includes('readiness') ? (await warehouse.reportIds(orgId)).length : 0,
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
