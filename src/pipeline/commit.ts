import { activityPositions } from '../../schema/active.ts';
import { contentSha256 } from '../../schema/digest.ts';
import { daysBetween, type UtcDay } from '../core/day.ts';
import { type DayCommit, decodedChunks, type EncodedRows, type Row } from '../warehouse/port.ts';
import type { Findings } from './findings.ts';
import type { DayUnit } from './plan.ts';

/** A pulled and normalized day. */
export interface NormalizedDay {
  readonly orgId: string;
  readonly unit: DayUnit;
  readonly tables: readonly EncodedRows[];
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
  /** What the next pull of the day needs to know, see `DayCommit.cursor`. */
  readonly cursor?: string | null;
}

/** True when a day is as old as the service may still restate days. */
export function isSettled(day: UtcDay, { today, settleDays }: SettleRule): boolean {
  return daysBetween(day, today) >= settleDays;
}

/**
 * What is to be stored of a day, and in which state: a day without activity is awaited while it is young, because the
 * service's daily batch may be late, and taken as empty once it has settled.
 */
export function dayCommit(day: NormalizedDay, rule: SettleRule, pull: PullCost): DayCommit {
  const { orgId, unit, tables, findings } = day;
  const { quarantined, drift } = findings;
  const isOld = isSettled(unit.day, rule);
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

/** True when some number says that something happened on the day. */
function isActive(tables: readonly EncodedRows[]): boolean {
  return tables.some((part) => {
    const positions = activityPositions(part.table);
    const isActiveRow = (row: Row) =>
      positions.some((position) => row[position] !== null && row[position] !== 0);
    if (positions.length === 0) return false;
    for (const rows of decodedChunks(part)) if (rows.some(isActiveRow)) return true;
    return false;
  });
}
