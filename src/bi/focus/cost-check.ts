import { FIRST_DAY } from '../../core/day.ts';
import type { Month } from '../../core/month.ts';
import { answerMetric } from '../../metrics/answer-metric.ts';
import { readProvenance } from '../../metrics/provenance.ts';
import type { CoveredDays } from '../../metrics/question.ts';
import type { Warehouse } from '../../warehouse/port.ts';

/** The metric `cost` of a month. It comes from other rows than the charges: those of users. */
export interface MetricCost {
  /** Null where the metric is. */
  readonly cost: number | null;
  readonly warnings: readonly string[];
}

/**
 * Reads the metric `cost` of a month. Call it within a snapshot.
 * @throws {UsageError} if the prices have several currencies.
 */
export async function readMetricCost(warehouse: Warehouse, orgId: string, month: Month): Promise<MetricCost> {
  // The caller has a snapshot already.
  const source: Warehouse = { ...warehouse, inSnapshot: (read) => read() };
  const { rows, warnings } = await answerMetric(source, {
    metric: 'cost',
    orgId,
    by: [],
    ...periodOf(month),
  });
  const cost = rows[0]?.value ?? null;
  return { cost, warnings: cost === null ? warnings.map((warning) => `metric cost: ${warning}`) : [] };
}

/** Reads which days of a month the ledger has of the stream that is charged. */
export async function coverMonth(
  warehouse: Pick<Warehouse, 'units'>,
  orgId: string,
  month: Month,
): Promise<CoveredDays> {
  const { days } = await readProvenance(warehouse, { orgId, streams: ['tokens'], ...periodOf(month) });
  return days;
}

/** The service has no data before its first day. */
function periodOf({ first, last }: Month) {
  return { from: first < FIRST_DAY ? FIRST_DAY : first, until: last };
}
