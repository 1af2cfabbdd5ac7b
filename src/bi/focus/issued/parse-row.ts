import { isDay, type UtcDay } from '../../../core/day.ts';
import { UsageError } from '../../../core/errors.ts';
import { isObject, parseJson } from '../../../core/json.ts';
import type { Month } from '../../../core/month.ts';
import type { Charge } from '../charge.ts';
import { CORRECTION_REASONS, type ColumnName, type CorrectionReason } from '../columns.ts';
import { type BillNames, startOf } from '../row.ts';

/** A row of a file as it was read: texts, numbers, or null. */
export type ReadRow = Readonly<Partial<Record<ColumnName, string | number | null>>>;

/** The bill that a file must belong to. */
export interface ExpectedBill {
  readonly orgId: string;
  readonly month: Month;
  readonly names: BillNames;
}

/** What a row says: its charge, and the currency of its file. */
export interface ParsedRow {
  readonly charge: Charge;
  readonly currency: string;
  /** The digests of the files that a correction corrects; null in an original. */
  readonly correctedFiles: string | null;
}

/**
 * Reads a row of an issued file.
 * @throws {UsageError} without the name of the file, if the row belongs to another bill or was changed.
 */
export function parseRow(row: ReadRow, bill: ExpectedBill): ParsedRow {
  expectBill(row, bill);
  const userId = textOf(row, 'ResourceId');
  const isCorrection = textOf(row, 'ChargeClass') !== null;
  const charge: Charge = {
    day: dayOf(row, bill.month),
    subject: userId === null ? null : { userId, modelId: someText(row, 'SkuId') },
    modelTier: memberOf(row, 'SkuPriceDetails', 'x_ModelTier'),
    team: textOf(row, 'SubAccountId'),
    costCenter: memberOf(row, 'Tags', 'cost_center'),
    tokens: numberOf(row, 'ConsumedQuantity'),
    unitPrice: numberOf(row, 'ListUnitPrice'),
    cost: numberOf(row, 'BilledCost'),
    reason: isCorrection ? reasonOf(row) : null,
  };
  return {
    charge,
    currency: someText(row, 'BillingCurrency'),
    correctedFiles: textOf(row, 'x_CorrectedFiles'),
  };
}

function expectBill(row: ReadRow, { orgId, month, names }: ExpectedBill): void {
  const another = 'give the files that were issued for this month and organization, under these names';
  expectText(row, 'BillingPeriodStart', startOf(month.first), another);
  expectText(row, 'BillingAccountId', orgId, another);
  expectText(row, 'BillingAccountName', names.account, another);
  expectText(row, 'ProviderName', names.provider, another);
  expectText(row, 'InvoiceIssuerName', names.issuer, another);
}

function expectText(row: ReadRow, column: ColumnName, expected: string | null, hint: string): void {
  const found = textOf(row, column);
  if (found === expected) return;
  throw new UsageError(`${column} is ${shown(found)} instead of ${shown(expected)}`, { hint });
}

function dayOf(row: ReadRow, { first, next }: Month): UtcDay {
  const day = someText(row, 'ChargePeriodStart').replace(/T00:00:00Z$/, '');
  if (isDay(day) && day >= first && day < next) return day;
  throw changed(row, 'ChargePeriodStart');
}

function reasonOf(row: ReadRow): CorrectionReason {
  const text = textOf(row, 'x_CorrectionReason');
  const reason = CORRECTION_REASONS.find((known) => known === text);
  if (reason !== undefined) return reason;
  throw changed(row, 'x_CorrectionReason');
}

function numberOf(row: ReadRow, column: ColumnName): number {
  const value = row[column] ?? '';
  const number = typeof value === 'number' || value.trim() === '' ? value : Number(value);
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw changed(row, column);
}

/** A member of a JSON object; null where the column or the member is. */
function memberOf(row: ReadRow, column: ColumnName, member: string): string | null {
  const text = textOf(row, column);
  if (text === null) return null;
  const object = parseJson(text);
  if (!isObject(object)) throw changed(row, column);
  const value = object[member];
  return typeof value === 'string' ? value : null;
}

function someText(row: ReadRow, column: ColumnName): string {
  const text = textOf(row, column);
  if (text !== null) return text;
  throw changed(row, column);
}

function textOf(row: ReadRow, column: ColumnName): string | null {
  const value = row[column] ?? null;
  return value === null ? null : String(value);
}

function changed(row: ReadRow, column: ColumnName): UsageError {
  return new UsageError(`${column} is ${shown(row[column] ?? null)}`, {
    hint: 'another program has changed the file; give the file as it was issued',
  });
}

function shown(value: string | number | null): string {
  return value === null ? 'empty' : JSON.stringify(value);
}
