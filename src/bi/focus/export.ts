import { type Month, shiftDay, type UtcDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { expectFolderOf } from '../../core/files.ts';
import { answerMetric, type CoveredDays, readProvenance } from '../../metrics/index.ts';
import { readGate } from '../../policy/index.ts';
import type { Warehouse } from '../../port/index.ts';
import type { EmailPolicy } from '../../privacy/index.ts';
import { type Charge, type Total, Totals, throughGate, withoutUser } from './charge.ts';
import { type MonthCharges, periodOf, readCharges, shortened, whyWithoutUsers } from './charges.ts';
import type { CorrectionReason, FocusRow } from './columns.ts';
import { correctMonth } from './corrections.ts';
import { type IssuedFile, type IssuedFiles, issueFile, readIssued } from './issued-files.ts';
import { type Bill, type BillNames, rowOf } from './row.ts';

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
  const { orgId, month, corrects, emails, today } = request;
  expectFolderOf(request.path);
  const gate = await readGate(warehouse, emails);
  gate.passFor(orgId);
  const keepsUsers = (await whyWithoutUsers(warehouse, orgId, month)) === null;
  const passed = keepsUsers ? (charge: Charge) => throughGate(charge, gate) : withoutUser;
  const issued = corrects.length === 0 ? null : await readIssued(corrects, request, passed);
  const [file, totals] = [new Totals(), new Totals()];
  const read = await warehouse.inSnapshot(async () => {
    const charges = await readCharges(warehouse, orgId, month);
    const metric = await readMetricCost(warehouse, orgId, month);
    const days = await coverMonth(warehouse, orgId, month, today);
    const bill = billOf(request, charges, issued);
    const present = counting(charges.byDay(), totals, signal);
    const wanted =
      issued === null ? present : batches(await correctMonth(issued.issued, present, days.missing));
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
    warnings: [
      ...warningsOf(request, { charges, days, totals }),
      ...metric.warnings,
      ...lackingIn(metric, request, days),
    ],
  };
}

/** Names the days that are stored of the charges, and not of the metric: they are a part of the difference. */
function lackingIn({ cost, missing }: MetricCost, { today }: FocusRequest, days: CoveredDays): string[] {
  const own = missing.filter((day) => day < today && !days.missing.includes(day));
  return cost === null || own.length === 0
    ? []
    : [`metric cost: days without rows of users are not in it: ${shortened(own)}`];
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

/** Which file to write. */
export interface FocusRequest {
  readonly orgId: string;
  readonly month: Month;
  /** The file, which ends with `.csv` or `.parquet`. */
  readonly path: string;
  /** The files that were issued for the month, in their order. Without any, an original is written. */
  readonly corrects: readonly string[];
  readonly names: BillNames;
  /** Under which policy people are kept: corrections name them so. */
  readonly emails: EmailPolicy;
  /** The current day. Days from it on are no holes. */
  readonly today: UtcDay;
}

/** The result of a FOCUS export. */
export interface FocusReport {
  readonly file: string;
  readonly kind: 'original' | 'correction';
  readonly org_id: string;
  readonly month: string;
  /** Null if nothing is charged. */
  readonly currency: string | null;
  readonly bytes: number;
  /** True if the file was there already, with the same bytes. */
  readonly is_unchanged: boolean;
  /** What the file holds. */
  readonly total: Total;
  /** The corrections by their reason; null for an original. */
  readonly corrections: Readonly<Record<CorrectionReason, Total>> | null;
  /** What the month costs now: this file and all that were issued before. */
  readonly month_total: Total;
  /** The part of it that no user and model has. */
  readonly unattributed: Total;
  /** The metric `cost` of the month, which comes from the rows of users, and how far the month's total is above it. */
  readonly metric_cost: number | null;
  readonly difference: number | null;
  /** Which days of the month the file rests on. */
  readonly days: CoveredDays;
  /** What limits the file, one sentence each. */
  readonly warnings: readonly string[];
}

/** The metric `cost` of a month. It comes from other rows than the charges: those of users. */
export interface MetricCost {
  /** Null where the metric is. */
  readonly cost: number | null;
  /** Days of the month that are not stored of users. */
  readonly missing: readonly UtcDay[];
  readonly warnings: readonly string[];
}

/**
 * Reads the metric `cost` of a month. Call it within a snapshot.
 * @throws {UsageError} if the prices have several currencies.
 */
export async function readMetricCost(warehouse: Warehouse, orgId: string, month: Month): Promise<MetricCost> {
  // The caller has a snapshot already.
  const source: Warehouse = { ...warehouse, inSnapshot: (read) => read() };
  const { rows, warnings, days } = await answerMetric(source, {
    metric: 'cost',
    orgId,
    by: [],
    ...periodOf(month),
  });
  const cost = rows[0]?.value ?? null;
  const why = cost === null ? warnings.map((warning) => `metric cost: ${warning}`) : [];
  return { cost, missing: days.missing, warnings: why };
}

/** Reads which of the days of a month that are over the ledger has of the stream that is charged. */
async function coverMonth(
  warehouse: Pick<Warehouse, 'read'>,
  orgId: string,
  month: Month,
  today: UtcDay,
): Promise<CoveredDays> {
  const { from, until: last } = periodOf(month);
  const until = last < today ? last : shiftDay(today, -1);
  return (await readProvenance(warehouse, { orgId, streams: ['tokens'], from, until })).days;
}

/** What a file rests on. */
interface Basis {
  readonly charges: Pick<MonthCharges, 'withoutTotal' | 'unknownRows' | 'notKept'>;
  readonly days: CoveredDays;
  readonly totals: Totals;
}

/** What limits a file, one sentence each. */
export function warningsOf(
  { corrects, today, month }: Pick<FocusRequest, 'corrects' | 'today' | 'month'>,
  { charges, days, totals }: Basis,
): string[] {
  const { missing, unsettled, expected } = days;
  const { withoutTotal, unknownRows, notKept } = charges;
  const warnings: string[] = [];
  if (missing.length > 0) {
    warnings.push(
      `${missing.length} of ${expected} days are not stored and not in the file: ${shortened(missing)}`,
    );
  }
  if (unsettled.length > 0) {
    warnings.push(
      `${unsettled.length} of ${expected} days are not settled and may change: ${shortened(unsettled)}`,
    );
  }
  if (withoutTotal.length > 0) {
    warnings.push(`days whose total is not stored have no unattributed row: ${shortened(withoutTotal)}`);
  }
  if (unknownRows > 0) {
    warnings.push(`rows of users and models without billable tokens are not in the file: ${unknownRows}`);
  }
  if (notKept !== null) warnings.push(`${notKept}, so each charge is that of a model of a day`);
  else if (totals.all.rows > 0 && !totals.hasTeams) {
    warnings.push(
      'no charge has a team, so every SubAccountId is empty; load the people with daywalk people load',
    );
  }
  if (month.next > today) {
    const original = `the days from ${today} on are still to come`;
    const why = corrects.length > 0 ? 'FOCUS has corrections for months that were invoiced' : original;
    warnings.push(`${month.name} is not over: ${why}`);
  }
  return warnings;
}
