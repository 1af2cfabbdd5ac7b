/** The types of the FOCUS specification. JSON is an object of keys and simple values, as text. */
export type FocusType = 'String' | 'Decimal' | 'Date/Time' | 'JSON';

/** How a FOCUS 1.2 column is filled here. */
export interface FocusColumn {
  readonly type: FocusType;
  readonly isNullable: boolean;
  /** The values that this program writes; undefined if any are possible. */
  readonly allowed?: readonly string[];
}

const required = <Type extends FocusType>(type: Type) => ({ type, isNullable: false }) as const;
const nullable = <Type extends FocusType>(type: Type) => ({ type, isNullable: true }) as const;

/** Why a correction was necessary. */
export const CORRECTION_REASONS = ['restated', 'repriced', 'reassigned'] as const;

/** One of {@link CORRECTION_REASONS}: another quantity, another unit price, another team or cost center. */
export type CorrectionReason = (typeof CORRECTION_REASONS)[number];

/** The layout of the files. A change of columns or of their meaning changes it. */
export const LAYOUT = '1';

/**
 * The columns of a file, in its order: those of FOCUS 1.2 by name, then our own. Columns of features that an agent
 * platform does not have are left out, as the specification provides: regions, capacity reservations, commitment discounts
 * (but for their status, by which queries of FinOps tools filter).
 */
export const COLUMNS = {
  BilledCost: required('Decimal'),
  BillingAccountId: required('String'),
  BillingAccountName: nullable('String'),
  BillingCurrency: required('String'),
  BillingPeriodEnd: required('Date/Time'),
  BillingPeriodStart: required('Date/Time'),
  ChargeCategory: { ...required('String'), allowed: ['Usage'] },
  ChargeClass: { ...nullable('String'), allowed: ['Correction'] },
  ChargeDescription: required('String'),
  ChargeFrequency: { ...required('String'), allowed: ['Usage-Based'] },
  ChargePeriodEnd: required('Date/Time'),
  ChargePeriodStart: required('Date/Time'),
  CommitmentDiscountStatus: { ...nullable('String'), allowed: [] },
  ConsumedQuantity: required('Decimal'),
  ConsumedUnit: required('String'),
  ContractedCost: required('Decimal'),
  ContractedUnitPrice: required('Decimal'),
  EffectiveCost: required('Decimal'),
  InvoiceId: nullable('String'),
  InvoiceIssuerName: required('String'),
  ListCost: required('Decimal'),
  ListUnitPrice: required('Decimal'),
  PricingCategory: { ...required('String'), allowed: ['Standard'] },
  PricingCurrency: required('String'),
  PricingCurrencyContractedUnitPrice: required('Decimal'),
  PricingCurrencyEffectiveCost: required('Decimal'),
  PricingCurrencyListUnitPrice: required('Decimal'),
  PricingQuantity: required('Decimal'),
  PricingUnit: required('String'),
  ProviderName: required('String'),
  PublisherName: required('String'),
  ResourceId: nullable('String'),
  ResourceName: { ...nullable('String'), allowed: [] },
  ResourceType: { ...nullable('String'), allowed: ['User'] },
  ServiceCategory: { ...required('String'), allowed: ['AI and Machine Learning'] },
  ServiceName: required('String'),
  ServiceSubcategory: { ...required('String'), allowed: ['Generative AI'] },
  SkuId: required('String'),
  SkuMeter: required('String'),
  SkuPriceDetails: nullable('JSON'),
  SkuPriceId: required('String'),
  SubAccountId: nullable('String'),
  SubAccountName: nullable('String'),
  Tags: nullable('JSON'),
  x_CorrectedFiles: nullable('String'),
  x_CorrectionReason: { ...nullable('String'), allowed: CORRECTION_REASONS },
  x_Layout: { ...required('String'), allowed: [LAYOUT] },
} as const satisfies Record<string, FocusColumn>;

/** The name of a column. */
export type ColumnName = keyof typeof COLUMNS;

/** The names of all columns, in their order. */
export const COLUMN_NAMES = Object.keys(COLUMNS) as readonly ColumnName[];

type ValueOf<C extends FocusColumn> =
  | (C['type'] extends 'Decimal' ? number : string)
  | (C['isNullable'] extends true ? null : never);

/** A row of a file: every column by its name. */
export type FocusRow = { readonly [Name in ColumnName]: ValueOf<(typeof COLUMNS)[Name]> };
