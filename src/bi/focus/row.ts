import { shiftDay, type UtcDay } from '../../core/day.ts';
import { canonicalJson } from '../../core/json.ts';
import type { Month } from '../../core/month.ts';
import { type Charge, TOKENS_PER_UNIT } from './charge.ts';
import { type FocusRow, LAYOUT } from './columns.ts';

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
    ChargePeriodEnd: endOf(day),
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
    ResourceType: subject === null ? null : 'User',
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
export function startOf(day: UtcDay): string {
  return `${day}T00:00:00Z`;
}

/** Midnight UTC at the end of a day. */
function endOf(day: UtcDay): string {
  return startOf(shiftDay(day, 1));
}
