import type { UtcDay } from '../../../core/day.ts';
import { canonicalJson } from '../../../core/json.ts';
import type { Warehouse } from '../../../warehouse/port.ts';
import type { KnownLedger } from '../known-ledger.ts';
import { RangeGauge, rememberedRange, rowsPerDay } from './range-gauge.ts';

/** The name in `export_state` for the longest range that the service answers. */
export const RANGES = 'ranges';

/** A gauge that begins with what earlier runs learned. */
export async function openRangeGauge(
  { warehouse, rangeDays }: { readonly warehouse: Warehouse; readonly rangeDays: number },
  orgId: string,
  ledger: KnownLedger,
  today: UtcDay,
): Promise<RangeGauge> {
  const remembered = rememberedRange(await warehouse.state(orgId, RANGES), today);
  return new RangeGauge(rangeDays, rowsPerDay(ledger.all()), remembered);
}

/** Stores what this run learned, for the next ones. */
export async function rememberRange(
  { warehouse }: { readonly warehouse: Warehouse },
  gauge: RangeGauge,
  orgId: string,
  today: UtcDay,
): Promise<void> {
  const text = await warehouse.state(orgId, RANGES);
  const before = rememberedRange(text, today);
  const { days, isRefused } = gauge.learned;
  const now = canonicalJson({ days, refusedOn: isRefused ? (before?.refusedOn ?? today) : null });
  if (days > 1 && now !== text) await warehouse.setState(orgId, RANGES, now);
}
