import { FIRST_DAY, type Month, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-code.ts';
import { type CoveredDays, type MetricAnswer, readProvenance } from '../metrics/index.ts';
import type { Warehouse } from '../port/index.ts';
import { type Invoice, type InvoiceLine, keyOf, parseInvoiceColumns, readInvoice } from './invoice-file.ts';
import {
  expectKnown,
  type MonthCharges,
  type RestatedDay,
  restatedDays,
  shortened,
  type Usage,
  usageBy,
} from './invoice-usage.ts';

/** What to compare. */
interface CheckRequest {
  readonly orgId: string;
  readonly month: Month;
  readonly invoice: Invoice;
  /** The name of its file in messages. */
  readonly file: string;
  /** The charges of the warehouse. */
  readonly charges: MonthCharges;
  /** The last day whose changes the invoice can know. */
  readonly invoiceDate: UtcDay;
  /** How much a number may differ, as a share of the larger one. */
  readonly tolerance: number;
}

/** A number of the invoice beside that of the warehouse. */
interface Compared {
  /** Null where the invoice does not say. */
  readonly invoiced: number | null;
  readonly stored: number;
  /** invoiced minus stored. */
  readonly difference: number | null;
}

/** A line of the invoice beside the warehouse. */
interface CheckedLine {
  /** Null for what no line charges. */
  readonly line: number | null;
  /** Null: all teams. */
  readonly team: string | null;
  /** Null: all models. */
  readonly model: string | null;
  readonly credits: Compared;
  readonly amount: Compared;
  readonly agreed: boolean;
}

/** An invoice against the warehouse, as JSON. */
interface InvoiceCheck
  extends Pick<MetricAnswer, 'org_id' | 'from' | 'until' | 'days' | 'run_id' | 'warnings'> {
  readonly month: string;
  readonly invoice_date: UtcDay;
  readonly currency: string | null;
  readonly tolerance: number;
  /** `explained`: it differs by no more than what was restated after its date. */
  readonly verdict: 'agreed' | 'explained' | 'differs';
  readonly lines: readonly CheckedLine[];
  /** What the warehouse has and no line charges. */
  readonly not_invoiced: readonly CheckedLine[];
  readonly total: { readonly credits: Explained; readonly amount: Explained };
  readonly restated: readonly RestatedDay[];
  readonly exit_code: ExitCode;
}

/** A total, and what explains its difference. */
interface Explained extends Compared {
  readonly credit_notes: number;
  /** Days that were restated after the date of the invoice. */
  readonly restated: number;
  readonly unexplained: number | null;
}

/** Half of the smallest part of a currency: invoices are rounded. */
function roundingOf(currency: string): number {
  const style = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  return 0.5 / 10 ** (style.maximumFractionDigits ?? 2);
}

/**
 * Compares an invoice with the charges of its month. Call in a snapshot. Writes nothing.
 * @throws {UsageError} if it has an unknown team or model, another currency than the prices, or a team where none is kept.
 */
export async function checkInvoice(warehouse: Warehouse, request: CheckRequest): Promise<InvoiceCheck> {
  const { orgId, month, invoice, charges, invoiceDate, tolerance } = request;
  const [from, until] = [month.first < FIRST_DAY ? FIRST_DAY : month.first, month.last];
  const { days, run_id } = await readProvenance(warehouse, { orgId, streams: ['tokens'], from, until });
  if (days.missing.length === days.expected) {
    throw new UsageError(`no day of ${month.name} is stored`, { hint: 'run the export first' });
  }
  expectCurrency(request);
  const usage = await usageBy(invoice.lines, charges);
  await expectKnown(warehouse, request, usage);
  const currency = charges.currency ?? invoice.currency;
  const limits = { tolerance, rounding: currency === null ? 0 : roundingOf(currency) };
  const lines = invoice.lines.map((line) => checkedLine(line, usage.parts.get(keyOf(line)), limits));
  const invoiced = new Set(invoice.lines.map(keyOf));
  const others = [...usage.parts.values()]
    .filter((used) => !invoiced.has(keyOf(used)) && (used.credits !== 0 || used.amount !== 0))
    .map((used) => checkedLine({ ...used, credits: 0, amount: 0, line: null }, used, limits));
  const restated = await restatedDays(warehouse, request);
  const total = totalOf(invoice, restated, [...usage.parts.values()]);
  // The roundings of the lines add up.
  const rounding = limits.rounding * (invoice.lines.length + invoice.creditNotes.length);
  const basis = { lines, others, total, restated, days, limits: { ...limits, rounding } };
  const verdict = verdictOf(basis);
  return {
    ...{ org_id: orgId, month: month.name, from, until, invoice_date: invoiceDate },
    ...{ currency, tolerance, verdict, lines, not_invoiced: others },
    ...{ total, restated, days, run_id },
    warnings: [...invoice.notes, ...warningsOf(request, basis)],
    exit_code: verdict === 'agreed' ? EXIT.ok : EXIT.differs,
  };
}

function expectCurrency({ file, month, invoice, charges }: CheckRequest): void {
  if (invoice.currency === null || charges.currency === null || invoice.currency === charges.currency) return;
  const message = `${file}: the invoice is in ${invoice.currency}, the prices of ${month.name} are in ${charges.currency}`;
  throw new UsageError(message, {
    hint: `load a price list in ${invoice.currency} with daywalk prices load FILE.csv, or check an invoice in ${charges.currency}`,
  });
}

function checkedLine(
  { line, team, model, ...invoiced }: Omit<InvoiceLine, 'line'> & { readonly line: number | null },
  used: Usage | undefined,
  limits: Limits,
): CheckedLine {
  const credits = compare(invoiced.credits, used?.credits ?? 0);
  const amount = compare(invoiced.amount, used?.amount ?? 0);
  const agreed = areNear({ credits, amount }, limits);
  return { line, team, model, credits, amount, agreed };
}

function compare(invoiced: number | null, stored: number): Compared {
  return { invoiced, stored, difference: invoiced === null ? null : invoiced - stored };
}

/** How much a number may differ: as a share of the larger one, or by rounding. */
interface Limits {
  readonly tolerance: number;
  readonly rounding: number;
}

/** True where the invoice says nothing. */
function isNear(compared: Compared, limits: Limits): boolean {
  return Math.abs(compared.difference ?? 0) <= allowed(compared, limits);
}

/** Credits are not rounded. */
function areNear({ credits, amount }: Record<'credits' | 'amount', Compared>, limits: Limits): boolean {
  return isNear(credits, { ...limits, rounding: 0 }) && isNear(amount, limits);
}

/** Sums of the same numbers in another order differ by less. */
const RELATIVE_ERROR = 1e-9;

function allowed({ invoiced, stored }: Compared, { tolerance, rounding }: Limits): number {
  const size = Math.max(Math.abs(invoiced ?? 0), Math.abs(stored));
  return Math.max(size * (tolerance + RELATIVE_ERROR), rounding + RELATIVE_ERROR);
}

function totalOf(
  { lines, creditNotes }: Invoice,
  restated: readonly RestatedDay[],
  used: readonly Usage[],
): InvoiceCheck['total'] {
  const explained = (name: 'credits' | 'amount'): Explained => {
    const isStated = lines.every((line) => line[name] !== null);
    const notes = sum(creditNotes.map((note) => note[name] ?? 0));
    const invoiced = isStated ? sum(lines.map((line) => line[name] ?? 0)) + notes : null;
    const compared = compare(invoiced, sum(used.map((one) => one[name])));
    const change = -sum(changesOf(restated, name));
    const { difference } = compared;
    const unexplained = difference === null ? null : difference - notes - change;
    return { ...compared, credit_notes: notes, restated: change, unexplained };
  };
  return { credits: explained('credits'), amount: explained('amount') };
}

function changesOf(restated: readonly RestatedDay[], name: 'credits' | 'amount'): readonly number[] {
  return restated.map((day) => day[`change_${name}`]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** A restatement is known for the organization only, so it explains lines that together differ by no more than it. */
function verdictOf({ lines, others, total, restated, limits }: Basis): InvoiceCheck['verdict'] {
  const all = [...lines, ...others];
  if (all.every(({ agreed }) => agreed) && areNear(total, limits)) return 'agreed';
  const isExplained = (name: 'credits' | 'amount') => {
    const room = allowed(total[name], limits);
    const moved = sum(all.map((line) => Math.abs(line[name].difference ?? 0)));
    const changed = sum(changesOf(restated, name).map(Math.abs));
    return Math.abs(total[name].unexplained ?? 0) <= room && moved <= changed + room;
  };
  return restated.length > 0 && isExplained('credits') && isExplained('amount') ? 'explained' : 'differs';
}

interface Basis {
  readonly lines: readonly CheckedLine[];
  readonly others: readonly CheckedLine[];
  readonly total: InvoiceCheck['total'];
  readonly restated: readonly RestatedDay[];
  readonly days: CoveredDays;
  /** Of the total. */
  readonly limits: Limits;
}

/** What limits the comparison, or explains a difference in words. */
function warningsOf(
  { charges, invoice }: CheckRequest,
  { lines, others, total, restated, days, limits }: Basis,
): string[] {
  const { credits, amount } = total;
  const warnings: string[] = [];
  if (days.missing.length > 0) {
    warnings.push(`Days of the month that are not stored have no credits here: ${shortened(days.missing)}.`);
  }
  if (days.unsettled.length > 0) {
    warnings.push(`Days that are not settled may still change: ${shortened(days.unsettled)}.`);
  }
  const isPrice =
    amount.invoiced !== null &&
    credits.invoiced !== null &&
    credits.invoiced !== 0 &&
    credits.stored !== 0 &&
    isNear(credits, { ...limits, rounding: 0 }) &&
    !isNear(amount, limits);
  if (isPrice) {
    const price = (cost: number, tokens: number) => Number(((cost * 1_000_000) / tokens).toPrecision(6));
    const [theirs, ours] = [
      price(amount.invoiced ?? 0, credits.invoiced ?? 0),
      price(amount.stored, credits.stored),
    ];
    warnings.push(
      `The credits agree and the amounts do not: a million credits cost ${theirs} ${charges.currency} on the invoice, and ${ours} by the prices that are loaded.`,
    );
  }
  const differing = [...lines, ...others].filter(({ agreed }) => !agreed);
  if (differing.some(({ team }) => team !== null)) {
    warnings.push('A team has the people who are loaded now; a later move changes its lines, and no total.');
  }
  if (restated.length > 0 && invoice.lines.some(({ team, model }) => team !== null || model !== null)) {
    warnings.push(
      'Restatements are known for the whole organization. To compare the lines as of the date of the invoice, replay the archive as of that date into another warehouse.',
    );
  }
  return warnings;
}

export { parseInvoiceColumns, readInvoice };
