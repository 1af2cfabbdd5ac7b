import { FIRST_DAY } from '../../core/day.ts';
import type { Month } from '../../core/month.ts';
import { readProvenance } from '../../metrics/provenance.ts';
import type { CoveredDays } from '../../metrics/question.ts';
import type { Warehouse } from '../../warehouse/port.ts';

/** The metric `cost` beside the total of a month. */
export interface CostCheck {
  /** Null where the metric is. */
  readonly metric_cost: number | null;
  /** The total minus the metric. */
  readonly difference: number | null;
  readonly warnings: readonly string[];
}

/** Compares the total of a month with the metric `cost`, which comes from other rows: those of users. */
export async function checkCost(
  _warehouse: Warehouse,
  _total: { readonly orgId: string; readonly month: Month; readonly cost: number },
): Promise<CostCheck> {
  return { metric_cost: null, difference: null, warnings: [] };
}

/** Which days of a month the ledger has of the stream that is charged. */
export async function coverMonth(
  warehouse: Pick<Warehouse, 'units'>,
  orgId: string,
  { first, last }: Month,
): Promise<CoveredDays> {
  const from = first < FIRST_DAY ? FIRST_DAY : first;
  const { days } = await readProvenance(warehouse, { orgId, streams: ['tokens'], from, until: last });
  return days;
}
