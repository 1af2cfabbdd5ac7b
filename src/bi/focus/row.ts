import type { Month } from '../../core/day.ts';
import { isDay, shiftDay, type UtcDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { canonicalJson, isObject, parseJson } from '../../core/json.ts';
import { type Charge, TOKENS_PER_UNIT } from './charge.ts';
import {
  COLUMN_NAMES,
  CORRECTION_REASONS,
  type ColumnName,
  type CorrectionReason,
  type FocusRow,
  LAYOUT,
} from './columns.ts';

/** The names in a file that the service does not send. */
export interface BillNames {
  /** Who provides and publishes the service. */
  readonly provider: string;
  /** Who issues the invoices. */
  readonly issuer: string;
  /** The display name of the organization; null without one. */
  readonly account: string | null;
}

/** What all rows of a file have in common. */
export interface Bill {
  readonly orgId: string;
  readonly month: Month;
  /** ISO 4217 code of the currency of the prices. */
  readonly currency: string;
  readonly names: BillNames;
  /** In a file of corrections: the digests of the files that it corrects, see {@link digestsText}. Otherwise null. */
  readonly correctedFiles: string | null;
}

/** The SKU of the tokens of the day's total that no user and model has. */
const UNATTRIBUTED = 'unattributed';

/** The row of a charge. */
export function rowOf(charge: Charge, bill: Bill): FocusRow {
  const { day, subject, team, cost, reason } = charge;
  const skuId = subject?.modelId ?? UNATTRIBUTED;
  return {
    ...costsOf(charge),
    BillingAccountId: bill.orgId,
    BillingAccountName: bill.names.account,
    BillingCurrency: bill.currency,
    BillingPeriodEnd: startOf(bill.month.next),
    BillingPeriodStart: startOf(bill.month.first),
    ChargeCategory: 'Usage',
    ChargeClass: reason === null ? null : 'Correction',
    ChargeDescription: describe(charge),
    ChargeFrequency: 'Usage-Based',
    ChargePeriodEnd: startOf(shiftDay(day, 1)),
    ChargePeriodStart: startOf(day),
    CommitmentDiscountStatus: null,
    EffectiveCost: cost,
    InvoiceId: null,
    InvoiceIssuerName: bill.names.issuer,
    ProviderName: bill.names.provider,
    PublisherName: bill.names.provider,
    ResourceId: subject?.userId ?? null,
    // Names and email addresses of people stay out of the file.
    ResourceName: null,
    ResourceType: (subject?.userId ?? null) === null ? null : 'User',
    ServiceCategory: 'AI and Machine Learning',
    ServiceName: bill.names.provider,
    ServiceSubcategory: 'Generative AI',
    SkuId: skuId,
    SkuMeter: 'Billable tokens',
    SkuPriceDetails: charge.modelTier === null ? null : canonicalJson({ x_ModelTier: charge.modelTier }),
    SkuPriceId: skuId,
    SubAccountId: team,
    SubAccountName: team,
    Tags: charge.costCenter === null ? null : canonicalJson({ cost_center: charge.costCenter }),
    x_CorrectedFiles: bill.correctedFiles,
    x_CorrectionReason: reason,
    x_Layout: LAYOUT,
  };
}

/**
 * Quantities, prices and costs. The virtual currency is the credit: a billable token is one credit, so a million tokens
 * are priced at a million credits and, by the price list, at so much of the national currency.
 */
function costsOf({ tokens, unitPrice, cost }: Charge) {
  return {
    BilledCost: cost,
    ConsumedQuantity: tokens,
    ConsumedUnit: 'Tokens',
    ContractedCost: cost,
    ContractedUnitPrice: unitPrice,
    ListCost: cost,
    ListUnitPrice: unitPrice,
    PricingCategory: 'Standard',
    PricingCurrency: 'Credits',
    PricingCurrencyContractedUnitPrice: TOKENS_PER_UNIT,
    PricingCurrencyEffectiveCost: tokens,
    PricingCurrencyListUnitPrice: TOKENS_PER_UNIT,
    PricingQuantity: tokens / TOKENS_PER_UNIT,
    PricingUnit: `${TOKENS_PER_UNIT} Tokens`,
  };
}

const REASONS = {
  restated: 'Restated: the quantity has changed. ',
  repriced: 'Repriced: the unit price has changed. ',
  reassigned: 'Reassigned: the team or cost center has changed. ',
} as const;

function describe({ subject, reason }: Charge): string {
  const what =
    subject === null
      ? 'Unattributed: the difference between the total of the day and its users and models'
      : `Billable tokens, model ${subject.modelId}`;
  return (reason === null ? '' : REASONS[reason]) + what;
}

/** Midnight UTC at the start of a day, as FOCUS writes instants. */
function startOf(day: UtcDay): string {
  return `${day}T00:00:00Z`;
}

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
  const modelId = someText(row, 'SkuId');
  const isCorrection = textOf(row, 'ChargeClass') !== null;
  const charge: Charge = {
    day: dayOf(row, bill.month),
    subject: userId === null && modelId === UNATTRIBUTED ? null : { userId, modelId },
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

/**
 * Checks that a file has our columns in their order.
 * @throws {UsageError} without the name of the file.
 */
export function expectLayout(names: readonly string[]): readonly ColumnName[] {
  const isOurs = names.length === COLUMN_NAMES.length && COLUMN_NAMES.every((name, at) => name === names[at]);
  if (isOurs) return COLUMN_NAMES;
  throw new UsageError('it does not have the columns that this version of daywalk writes', {
    hint: 'give a file that daywalk focus has written; a file of another version is corrected with that version',
  });
}
