import { type AnalyticsPage, otherRange, type ReadinessPage } from '../api/index.ts';
import { type Checked, rowCheck } from '../checks/index.ts';
import { ReadinessReport } from '../contract/index.ts';
import { RunError, UnitError } from '../core/errors.ts';
import { EXIT } from '../core/exit-code.ts';
import { batchName, type DayBatch } from './plan.ts';

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
  const other = otherRange(meta, days[0], days.at(-1) ?? days[0]);
  if (other === null) return;
  const message = `${name}: the answer is about ${other}`;
  const options = {
    reason: 'other-range',
    hint: 'a cache on the way may answer in place of the service; nothing of that answer was stored',
  } as const;
  throw days.length > 1 ? new UnclearRangeError(message, options) : new UnitError(message, options);
}

const checkReports = rowCheck(ReadinessReport);

/** The valid reports of a page, and what was rejected. */
export function validateReports(page: ReadinessPage): Checked<ReadinessReport> {
  return checkReports(page.reports, { path: 'reports', text: page.text });
}

/**
 * Runs `work` on an answer. An answer that is nested too deeply for the stack fails its unit; it is no defect of this
 * program.
 * @throws {UnitError} if the stack overflows; and any error that `work` throws.
 */
export function unlessTooDeep<Result>(doing: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UnitError(`${doing}: the answer is nested too deeply to be read`, {
      cause: error,
      hint: 'nothing of that answer was stored',
    });
  }
}
