import { UsageError } from '../../core/errors.ts';
import type { CoveredDays } from '../../metrics/question.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import type { Charge } from './charge.ts';
import { type MonthCharges, readCharges } from './charges.ts';
import type { FocusRow } from './columns.ts';
import { correctMonth } from './corrections.ts';
import { coverMonth, type MetricCost, readMetricCost } from './cost-check.ts';
import { type IssuedFile, issueFile } from './issue-file.ts';
import { type IssuedFiles, readIssued } from './issued/read-files.ts';
import type { FocusReport } from './report.ts';
import type { FocusRequest } from './request.ts';
import { type Bill, rowOf } from './row.ts';
import { Totals } from './totals.ts';
import { warningsOf } from './warnings.ts';

/** The most rows that are encoded at once. */
const BATCH_ROWS_MAX = 5_000;

/**
 * Writes the charges of a month as FOCUS 1.2 rows, or what has changed since files were issued.
 * @throws {UsageError} if a price is missing, if there are several currencies, if the issued files do not fit, or if the
 * file exists with another content. Nothing is written then.
 * @throws {StorageError} if the file cannot be written.
 */
export async function exportFocus(
  warehouse: Warehouse,
  request: FocusRequest,
  signal: AbortSignal,
): Promise<FocusReport> {
  const { orgId, month, corrects } = request;
  const issued = corrects.length === 0 ? null : await readIssued(corrects, request);
  const [file, totals] = [new Totals(), new Totals()];
  const read = await warehouse.inSnapshot(async () => {
    const charges = await readCharges(warehouse, orgId, month);
    const metric = await readMetricCost(warehouse, orgId, month);
    const days = await coverMonth(warehouse, orgId, month);
    const bill = billOf(request, charges, issued);
    const present = counting(charges.byDay(), totals, signal);
    const wanted = issued === null ? present : batches(await correctMonth(issued.issued, present));
    const written = await issueFile(request.path, rowsOf(counting(wanted, file, signal), bill));
    return { charges, metric, days, bill, written };
  });
  return reportOf(request, { ...read, file, totals });
}

interface Exported {
  readonly charges: MonthCharges;
  readonly metric: MetricCost;
  readonly bill: Bill;
  readonly written: IssuedFile;
  readonly days: CoveredDays;
  /** What the file holds, and what the month costs. For an original they are equal. */
  readonly file: Totals;
  readonly totals: Totals;
}

function reportOf(request: FocusRequest, exported: Exported): FocusReport {
  const { charges, metric, bill, written, days, file, totals } = exported;
  const isCorrection = request.corrects.length > 0;
  return {
    file: written.path,
    kind: isCorrection ? 'correction' : 'original',
    org_id: request.orgId,
    month: request.month.name,
    currency: bill.currency === '' ? null : bill.currency,
    bytes: written.bytes,
    is_unchanged: written.isUnchanged,
    total: file.all,
    corrections: isCorrection ? file.byReason : null,
    month_total: totals.all,
    unattributed: totals.unattributed,
    metric_cost: metric.cost,
    difference: metric.cost === null ? null : totals.all.cost - metric.cost,
    days,
    warnings: [...warningsOf(request, { charges, days, totals }), ...metric.warnings],
  };
}

function billOf(
  { orgId, month, names }: FocusRequest,
  charges: MonthCharges,
  issued: IssuedFiles | null,
): Bill {
  const before = issued?.currency ?? null;
  const { currency: now } = charges;
  if (now !== null && before !== null && now !== before) {
    throw new UsageError(
      `the prices of ${month.name} are in ${now} now, but the files were issued in ${before}`,
      {
        hint: `load a price list in ${before}, with daywalk prices load FILE.csv`,
      },
    );
  }
  return { orgId, month, names, currency: now ?? before ?? '', correctedFiles: issued?.digests ?? null };
}

async function* counting(
  days: AsyncIterable<readonly Charge[]>,
  totals: Totals,
  signal: AbortSignal,
): AsyncGenerator<readonly Charge[]> {
  for await (const charges of days) {
    signal.throwIfAborted();
    for (const charge of charges) totals.add(charge);
    yield charges;
  }
}

async function* batches(charges: readonly Charge[]): AsyncGenerator<readonly Charge[]> {
  for (let start = 0; start < charges.length; start += BATCH_ROWS_MAX) {
    yield charges.slice(start, start + BATCH_ROWS_MAX);
  }
}

async function* rowsOf(days: AsyncIterable<readonly Charge[]>, bill: Bill): AsyncGenerator<FocusRow[]> {
  for await (const charges of days) yield charges.map((charge) => rowOf(charge, bill));
}
