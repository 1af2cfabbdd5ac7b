import type { AnalyticsPage, ReadinessPage } from '../api/pages.ts';
import { ReadinessReport } from '../api/shapes/readiness.ts';
import { type Checked, originalOf, type RowCheck, rowCheck } from '../api/shapes/salvage.ts';
import { RunError } from '../core/errors.ts';
import { EXIT } from '../core/exit-code.ts';
import type { DayUnit } from './plan.ts';

/**
 * Refuses an answer that is about another organization than the run's: one key answers for one organization, so
 * nothing of such a run could be trusted.
 */
export function expectOrganization(page: AnalyticsPage, orgId: string, unit: DayUnit): void {
  if (page.meta.org_id === orgId) return;
  throw new RunError(
    `pull ${unit.stream} ${unit.day}: the answer is about organization "${page.meta.org_id}", not "${orgId}"`,
    { exitCode: EXIT.quarantine, hint: 'check the key and the URL; nothing of that answer was stored' },
  );
}

/** The rows of a page that keep to their shape and are about the unit's day. */
export function validateDay<Row extends { date: string }>(
  check: RowCheck<Row>,
  page: AnalyticsPage,
  unit: DayUnit,
): Checked<Row> {
  const { rows, rejected } = check(page.data, { path: 'data', text: page.text });
  if (rows.every((row) => row.date === unit.day)) return { rows, rejected };
  const strangers = rows.filter((row) => row.date !== unit.day);
  return {
    rows: rows.filter((row) => row.date === unit.day),
    rejected: [
      ...rejected,
      ...strangers.map((record) => ({
        record,
        path: `data[${page.data.indexOf(originalOf(record))}]`,
        reason: `is about ${record.date}, and ${unit.day} was asked for`,
      })),
    ],
  };
}

const checkReports = rowCheck(ReadinessReport);

/** The reports of a page that keep to their shape. */
export function validateReports(page: ReadinessPage): Checked<ReadinessReport> {
  return checkReports(page.reports, { path: 'reports', text: page.text });
}
