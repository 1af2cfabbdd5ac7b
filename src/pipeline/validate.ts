import { ReadinessReport } from '../api/shapes/readiness.ts';
import { type Checked, originalOf, type Rejected, type RowCheck, rowCheck } from '../api/shapes/salvage.ts';
import type { AnalyticsPage, ReadinessPage } from '../api/walk/pages.ts';
import { RunError, UnitError } from '../core/errors.ts';
import { EXIT } from '../core/exit-code.ts';
import { batchName, type DayBatch } from './batch.ts';

/** The answer to a range does not settle its days: each must be requested alone. */
export class UnclearRangeError extends UnitError {}

/** A few parts of the answer to a range fit none of its days. Shorter ranges show which days are affected. */
export class RangeMisfitsError extends UnclearRangeError {}

/** The error for a range without any row, which proves nothing: a service may return an empty list by mistake. */
export function rangeWithoutRows(range: Pick<DayBatch, 'stream' | 'days'>): UnclearRangeError {
  return new UnclearRangeError(`${batchName(range)}: the answer has no rows`, {
    reason: 'range-without-rows',
  });
}

/**
 * Makes sure that an answer is about what was requested.
 * @throws {RunError} with exit code 5 if it names another organization. One key belongs to one organization, so
 * nothing of the run can be trusted then.
 * @throws {UnclearRangeError} if it names another range of days.
 * @throws {UnitError} if it names another day.
 */
export function expectAnswerTo({ meta }: AnalyticsPage, orgId: string, batch: DayBatch): void {
  const name = `pull ${batchName(batch)}`;
  if (meta.org_id !== orgId) {
    throw new RunError(`${name}: the answer is about organization "${meta.org_id}", not "${orgId}"`, {
      exitCode: EXIT.quarantine,
      hint: 'check the key and the URL; nothing of that answer was stored',
    });
  }
  const { days } = batch;
  if (!isOther(meta.start_date, days[0]) && !isOther(meta.end_date, days.at(-1))) return;
  const message = `${name}: the answer is about ${meta.start_date ?? '?'} to ${meta.end_date ?? '?'}`;
  const options = {
    reason: 'other-range',
    hint: 'a cache on the way may answer in place of the service; nothing of that answer was stored',
  } as const;
  throw days.length > 1 ? new UnclearRangeError(message, options) : new UnitError(message, options);
}

function isOther(named: string | null | undefined, requested: string | undefined): boolean {
  return named !== null && named !== undefined && named !== requested;
}

/** The valid rows of a page by their day, and what was rejected. */
export function validateDays<Row extends { date: string }>(
  check: RowCheck<Row>,
  page: AnalyticsPage,
  { days }: DayBatch,
): { readonly rows: ReadonlyMap<string, readonly Row[]>; readonly rejected: readonly Rejected[] } {
  const { rows, rejected } = check(page.data, { path: 'data', text: page.text });
  const [only, ...others] = days;
  // The usual case: nothing needs to be sorted.
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
    kind: 'foreign',
  }));
}

const checkReports = rowCheck(ReadinessReport);

/** The valid reports of a page, and what was rejected. */
export function validateReports(page: ReadinessPage): Checked<ReadinessReport> {
  return checkReports(page.reports, { path: 'reports', text: page.text });
}
