import { contentSha256 } from '../../schema/digest.ts';
import { daysBetween, type UtcDay } from '../core/day.ts';
import type { DayCommit, TableRows } from '../warehouse/port.ts';
import type { Findings } from './findings.ts';
import type { DayUnit } from './plan.ts';

/** A pulled and normalized day. */
export interface NormalizedDay {
  readonly orgId: string;
  readonly unit: DayUnit;
  readonly tables: readonly TableRows[];
  readonly findings: Findings;
}

/** When a day counts as settled. */
export interface SettleRule {
  /** The UTC day on which the run began. */
  readonly today: UtcDay;
  readonly settleDays: number;
}

/** When a day was pulled, and the requests that are counted for it. */
export interface PullCost {
  readonly pulledAt: Date;
  readonly requests: number;
}

/**
 * What is to be stored of a day, and in which state: a day without activity is awaited while it is young, because the
 * service's daily batch may be late, and taken as empty once it has settled.
 */
export function dayCommit(day: NormalizedDay, rule: SettleRule, pull: PullCost): DayCommit {
  const { orgId, unit, tables, findings } = day;
  const { quarantined, drift } = findings;
  const isOld = daysBetween(unit.day, rule.today) >= rule.settleDays;
  const state =
    quarantined.length > 0 ? 'quarantined' : isActive(tables) ? 'loaded' : isOld ? 'empty' : 'awaiting';
  return {
    orgId,
    ...unit,
    tables,
    contentSha256: contentSha256(tables),
    state,
    settled: isOld && quarantined.length === 0,
    quarantined,
    drift,
    ...pull,
  };
}

/** Counts over trailing days; they go on after the last activity. */
const TRAILING: ReadonlySet<string> = new Set(['weekly_active_users', 'monthly_active_users']);

/** True when some number says that something happened on the day. */
function isActive(tables: readonly TableRows[]): boolean {
  return tables.some(({ table, rows }) => {
    const positions = Object.entries(table.columns).flatMap(([name, { kind }], index) =>
      kind === 'metric' && !TRAILING.has(name) ? [index] : [],
    );
    return rows.some((row) => positions.some((position) => row[position] !== null && row[position] !== 0));
  });
}
