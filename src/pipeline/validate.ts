import type { AnalyticsPage, ReadinessPage } from '../api/pages.ts';
import { ReadinessReport } from '../api/shapes/readiness.ts';
import { type Checked, originalOf, type Rejected, type RowCheck, rowCheck } from '../api/shapes/salvage.ts';
import { RunError } from '../core/errors.ts';
import { EXIT } from '../core/exit-code.ts';
import { batchName, type DayBatch } from './batch.ts';

/**
 * Refuses an answer that is about another organization than the run's: one key answers for one organization, so
 * nothing of such a run could be trusted.
 */
export function expectOrganization(page: AnalyticsPage, orgId: string, batch: DayBatch): void {
  if (page.meta.org_id === orgId) return;
  throw new RunError(
    `pull ${batchName(batch)}: the answer is about organization "${page.meta.org_id}", not "${orgId}"`,
    { exitCode: EXIT.quarantine, hint: 'check the key and the URL; nothing of that answer was stored' },
  );
}

/** The rows of a page that keep to their shape, by the day of the batch that they are about. */
export function validateDays<Row extends { date: string }>(
  check: RowCheck<Row>,
  page: AnalyticsPage,
  { days }: DayBatch,
): { readonly rows: ReadonlyMap<string, readonly Row[]>; readonly rejected: readonly Rejected[] } {
  const { rows, rejected } = check(page.data, { path: 'data', text: page.text });
  const [only, ...others] = days;
  // The usual case, in which nothing needs to be moved.
  if (others.length === 0 && rows.every((row) => row.date === only)) {
    return { rows: new Map([[only, rows]]), rejected };
  }
  const byDay = new Map<string, Row[]>(days.map((day) => [day, []]));
  const strangers = rows.filter((row) => byDay.get(row.date)?.push(row) === undefined);
  return { rows: byDay, rejected: [...rejected, ...rejectStrangers(strangers, page, days)] };
}

function rejectStrangers(
  strangers: readonly { readonly date: string }[],
  page: AnalyticsPage,
  days: readonly string[],
): Rejected[] {
  if (strangers.length === 0) return [];
  const asked = days.length === 1 ? `${days[0]} was` : `${days[0]} to ${days.at(-1)} were`;
  const places = new Map(page.data.map((row, index) => [row, index]));
  return strangers.map((record) => ({
    record,
    path: `data[${places.get(originalOf(record))}]`,
    reason: `is about ${record.date}, and ${asked} asked for`,
  }));
}

const checkReports = rowCheck(ReadinessReport);

/** The reports of a page that keep to their shape. */
export function validateReports(page: ReadinessPage): Checked<ReadinessReport> {
  return checkReports(page.reports, { path: 'reports', text: page.text });
}
