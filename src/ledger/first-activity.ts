import { type SQL, sql } from '../../schema/query.ts';
import { encoderOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { dayOf, isDay, type UtcDay } from '../core/day.ts';
import { isObject, parseJson } from '../core/json.ts';
import type { SettleRule } from '../judge/agreement.ts';
import type { QueryRow, Steps, Warehouse } from '../port/index.ts';
import type { LedgerDay } from '../units/index.ts';
import { lockUnits, writeSettled } from './ledger.ts';

/** The name in `export_state` under which the beginning of activity is remembered. */
const ACTIVE_SINCE = 'active-since';

const encodeState = encoderOf(tables.exportState);
/** Days that are locked, read and written at once. */
const DAYS_AT_ONCE = 100;

/** A unit whose stored rows show activity. */
const IS_ACTIVE = sql`(u.state IN ('loaded', 'doubted') OR u.active_users > 0)`;

/** Which organization, and by which rule its days settle. */
export interface Beginning {
  readonly orgId: string;
  readonly rule: SettleRule;
  /** Since when pulls count. @default the start of the run that first stored activity */
  readonly since?: string;
  /** Settle what waits although it is remembered when activity began: workers began before it did. @default false */
  readonly always?: boolean;
}

/** What {@link settleAfterFirstActivity} has found and done. */
export interface Begun {
  /** Since when pulls without activity count; null if no row with activity was ever stored. */
  readonly activeSince: string | null;
  /** The units that settled. */
  readonly settled: readonly LedgerDay[];
}

/**
 * Settles the days that waited until the organization was ever active: those that were pulled in the run that first stored
 * a row with activity, or later. Remembers when that run began. May be repeated; call it before a run plans, and again
 * when it ends if there was no activity before.
 */
export async function settleAfterFirstActivity(
  warehouse: Pick<Warehouse, 'select' | 'transact'>,
  beginning: Beginning,
): Promise<Begun> {
  const remembered = await readRemembered(warehouse, beginning.orgId);
  // A run whose clock was ahead has remembered a time in the future. Until then, no pull would count.
  const isAhead = remembered !== null && dayOf(new Date(remembered)) > beginning.rule.today;
  const known = isAhead ? null : remembered;
  if (known !== null && beginning.always !== true) return { activeSince: known, settled: [] };
  const since = known ?? beginning.since;
  return warehouse.transact('settle days in', () => settleWaiting(beginning, since), 'latest');
}

/** Since when an organization is active, as {@link settleAfterFirstActivity} finds it; null if it never was. */
export async function readActiveSince(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
): Promise<string | null> {
  const known = await readRemembered(warehouse, orgId);
  return known ?? instantIn(await warehouse.select(firstActivity(orgId)));
}

function* settleWaiting({ orgId, rule }: Beginning, known: string | undefined): Steps<Begun> {
  const first = instantIn(yield firstActivity(orgId));
  const activeSince = first === null ? null : (known ?? first);
  if (activeSince === null) return { activeSince, settled: [] };
  const rows = yield sql`
    SELECT DISTINCT date FROM export_units
    WHERE org_id = ${orgId} AND stream <> 'readiness' AND state = 'awaiting' ORDER BY date`;
  const days = rows.map((row) => row['date']).filter(isDay);
  const settled: LedgerDay[] = [];
  for (let start = 0; start < days.length; start += DAYS_AT_ONCE) {
    const some = days.slice(start, start + DAYS_AT_ONCE);
    settled.push(...(yield* settleDaysAgain(orgId, some, { ...rule, activeSince })));
  }
  const value = JSON.stringify({ since: activeSince });
  yield { table: tables.exportState, rows: [encodeState({ org_id: orgId, name: ACTIVE_SINCE, value })] };
  return { activeSince, settled };
}

/** Settles days without a new answer. Other workers that change them take turns. */
function* settleDaysAgain(orgId: string, days: readonly UtcDay[], rule: SettleRule): Steps<LedgerDay[]> {
  const waiting = (yield* lockUnits(orgId, days)).filter(({ state }) => state === 'awaiting');
  const changed = waiting.map((unit) => ({ unit, rule, isCommitted: false }));
  const units = yield* writeSettled(changed);
  return units.filter(({ settledAt }) => settledAt !== null);
}

/** When the first of the runs began that stored the activity; of older versions, when a pull last changed it. */
function firstActivity(orgId: string): SQL {
  return sql`
    SELECT MIN(COALESCE(r.started_at, u.changed_at)) AS since
    FROM export_units u LEFT JOIN export_runs r ON r.run_id = u.run_id
    WHERE u.org_id = ${orgId} AND u.stream <> 'readiness' AND ${IS_ACTIVE}`;
}

function instantIn([row]: readonly QueryRow[]): string | null {
  const since = row?.['since'] ?? null;
  return since === null ? null : String(since);
}

async function readRemembered(warehouse: Pick<Warehouse, 'select'>, orgId: string): Promise<string | null> {
  const [row] = await warehouse.select(sql`
    SELECT value FROM export_state WHERE org_id = ${orgId} AND name = ${ACTIVE_SINCE}`);
  const value = row === undefined ? null : parseJson(String(row['value']));
  return isObject(value) && typeof value['since'] === 'string' ? value['since'] : null;
}
