import type { Month } from '../core/day.ts';
import { nearestName, UsageError } from '../core/errors.ts';
import { UNASSIGNED } from '../rollups/index.ts';
import { type CellParser, currencyCell, Mistakes, optional, teamCell, textCell } from './csv-columns.ts';
import { type CsvRow, readCsv } from './read-csv.ts';

/** The most credits or money of a line: what the most credits that are stored of a day cost at the highest price. */
const NUMBER_MAX = 1e22;

/** Credits or money. A credit note takes something back, so a number may be negative; FOCUS files have exponents. */
const signedCell: CellParser<number> = (text) => {
  const isNumber = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);
  if (isNumber && Math.abs(Number(text)) <= NUMBER_MAX) return Number(text);
  if (isNumber) throw new UsageError(`is more than ${NUMBER_MAX}`, { hint: 'check the number' });
  throw new UsageError('is not a number', {
    hint: 'write a number such as 1250.50 or -20: a decimal point, no other separator and no currency',
  });
};

/** The columns of an invoice. */
const columns = {
  team: optional(teamCell),
  model: optional(textCell),
  credits: optional(signedCell),
  amount: optional(signedCell),
  currency: optional(currencyCell),
} as const;

/** What else is read of a FOCUS file. */
const focusColumns = {
  period: optional(textCell),
  account: optional(textCell),
  class: optional(textCell),
} as const;

type Column = keyof typeof columns;
type Row = CsvRow<typeof columns & typeof focusColumns>;

/** What a FOCUS file calls the columns. */
const FOCUS_NAMES: Readonly<Record<keyof Row['cells'], string>> = {
  team: 'SubAccountName',
  model: 'SkuId',
  credits: 'ConsumedQuantity',
  amount: 'BilledCost',
  currency: 'BillingCurrency',
  period: 'BillingPeriodStart',
  account: 'BillingAccountId',
  class: 'ChargeClass',
};

/** What an invoice calls its columns, where it is not as here. */
export type InvoiceColumns = Readonly<Partial<Record<Column, string>>>;

/**
 * Parses the names of columns: `team=Cost Center,amount=Net`.
 * @throws {UsageError} if it is not such a list, or if there is no such column.
 */
export function parseInvoiceColumns(text: string): InvoiceColumns {
  const known = Object.keys(columns);
  const pairs = text.split(',').map((pair) => {
    const [own = '', ...name] = pair.split('=');
    const [column, called] = [own.trim(), name.join('=').trim()];
    if (!known.includes(column) || called === '') {
      const near = nearestName(column, known);
      throw new UsageError(`"${pair}" names no column of an invoice`, {
        hint: `write ${near ?? 'amount'}=NAME; the columns are ${known.join(', ')}`,
      });
    }
    return [column, called] as const;
  });
  if (new Set(pairs.map(([column]) => column)).size === pairs.length) return Object.fromEntries(pairs);
  throw new UsageError('a column is named twice', { hint: 'name each column once' });
}

/** What an invoice charges for a team and a model. */
export interface InvoiceLine {
  /** Where it begins in the file; of several lines that are one, the first. */
  readonly line: number;
  /** Null: all teams. */
  readonly team: string | null;
  /** Null: all models. */
  readonly model: string | null;
  /** Null where the invoice does not say. */
  readonly credits: number | null;
  readonly amount: number | null;
}

/** An invoice of a month. */
export interface Invoice {
  /** True for a FOCUS file, whose names are those of the warehouse when it was written. */
  readonly isFocus: boolean;
  readonly lines: readonly InvoiceLine[];
  /** What is taken back, of no line alone. */
  readonly creditNotes: readonly InvoiceLine[];
  /** Null if the file names none. */
  readonly currency: string | null;
  /** What a reader should know about the file, one sentence each. */
  readonly notes: readonly string[];
}

/** Which invoice to read. */
export interface InvoiceRequest {
  readonly file: { readonly path: string; readonly name: string };
  readonly month: Month;
  readonly columns: InvoiceColumns;
  /** The name of a team as the warehouse has it, as the gate lets it pass. */
  passed(team: string): string;
}

/**
 * Reads an invoice, or the FOCUS file of a month, whose rows are added up by team and model.
 * @throws {UsageError} that names file, line and remedy of each mistake: no header, a line twice, lines that charge the same,
 * two currencies, another month or organization.
 */
export async function readInvoice(
  { file, month, columns: named, passed }: InvoiceRequest,
  orgId: string,
): Promise<Invoice> {
  let isFocus = false;
  let unread: string[] = [];
  const rows = await readCsv(file, {
    columns: { ...columns, ...focusColumns, team: optional((text) => passed(teamCell(text))) },
    oneOf: ['credits', 'amount'],
    allowsOthers: true,
    named: (header) => {
      isFocus = header.includes(FOCUS_NAMES.amount) && header.includes(FOCUS_NAMES.period);
      const names = namesIn(header, { file: file.name, named, isFocus });
      const read = Object.values(names);
      unread = isFocus ? [] : header.filter((name) => !read.includes(name));
      return names;
    },
  });
  if (rows.length === 0) {
    throw new UsageError(`${file.name}: the invoice has no lines`, {
      hint: 'give the invoice with its lines',
    });
  }
  const mistakes = new Mistakes(file.name);
  addOtherCurrencies(rows, mistakes);
  if (isFocus) addOtherBills(rows, { month, orgId }, mistakes);
  else addMissingAmounts(rows, mistakes);
  const charged = isFocus ? addedUp(rows) : linesOf(rows, mistakes);
  mistakes.refuse();
  const currency = rows.find(({ cells }) => cells.currency !== null)?.cells.currency ?? null;
  return { isFocus, ...charged, currency, notes: notesOf(charged, currency, unread) };
}

interface Header {
  readonly file: string;
  readonly named: InvoiceColumns;
  readonly isFocus: boolean;
}

/** The name of no column, because cells are trimmed. */
const NOWHERE = ' ';

/** What a file calls the columns: as it was said, as FOCUS does, or as here in any case. */
function namesIn(
  header: readonly string[],
  { file, named, isFocus }: Header,
): Partial<Record<string, string>> {
  const all = Object.keys(columns).join(',');
  const lacking = Object.entries(named).find(([, name]) => !header.includes(name));
  if (lacking !== undefined) {
    const near = nearestName(lacking[1], header);
    throw new UsageError(`${file}:1: the file has no column "${lacking[1]}"`, {
      hint: near === undefined ? `its columns are ${header.join(', ')}` : `write ${lacking[0]}=${near}`,
    });
  }
  const own = Object.keys(columns).flatMap((column) => {
    const name = header.find((text) => text.toLowerCase() === column);
    return name === undefined ? [] : [[column, name]];
  });
  // Columns of FOCUS that no invoice has must not be found by chance.
  const others = Object.keys(focusColumns).map((column) => [column, NOWHERE]);
  const names = {
    ...Object.fromEntries(isFocus ? Object.entries(FOCUS_NAMES) : [...others, ...own]),
    ...named,
  };
  if (names['credits'] !== undefined || names['amount'] !== undefined) return names;
  throw new UsageError(`${file}:1: the header has no column credits and no column amount`, {
    hint: `begin the file with a header line such as ${all}, or say what its columns are called`,
  });
}

function addOtherCurrencies(rows: readonly Row[], mistakes: Mistakes): void {
  const first = rows.find(({ cells }) => cells.currency !== null);
  for (const { line, cells } of rows) {
    if (cells.currency === null || cells.currency === first?.cells.currency) continue;
    const message = `the currency is ${cells.currency}, and ${first?.cells.currency} in line ${first?.line}`;
    mistakes.add({ line, message, hint: 'give each currency as a file of its own' });
  }
}

/** An amount that is left out would be compared with nothing, and its line would agree. */
function addMissingAmounts(rows: readonly Row[], mistakes: Mistakes): void {
  const first = rows.find(({ cells }) => cells.amount !== null);
  if (first === undefined) return;
  for (const { line, cells } of rows) {
    if (cells.amount !== null) continue;
    const message = `the amount is empty, and line ${first.line} has one`;
    mistakes.add({ line, message, hint: 'write 0 for what costs nothing' });
  }
}

/** A FOCUS file says which month of whom it is. */
function addOtherBills(
  rows: readonly Row[],
  { month, orgId }: { readonly month: Month; readonly orgId: string },
  mistakes: Mistakes,
): void {
  for (const { line, cells } of rows) {
    const [period, account] = [cells.period?.slice(0, month.first.length), cells.account];
    if (period !== month.first) {
      mistakes.add({
        line,
        message: `the billing period begins on ${period ?? 'no day'}, not on ${month.first}`,
        hint: 'give the file of the month',
      });
    }
    if (account !== null && account !== orgId) {
      const message = `the billing account is ${account}, not ${orgId}`;
      mistakes.add({ line, message, hint: 'give the file of the organization' });
    }
  }
  if (rows.every(({ cells }) => cells.class === 'Correction')) {
    const hint = 'put the original and its corrections into one file';
    mistakes.add({ line: 1, message: 'the file has corrections only', hint });
  }
}

type Charged = Pick<Invoice, 'lines' | 'creditNotes'>;

/** The rows of a FOCUS file by team and model. A row without a team is one of users without a team, if any row has one. */
function addedUp(rows: readonly Row[]): Charged {
  const hasTeams = rows.some(({ cells }) => cells.team !== null);
  const lines = rows.map(({ line, cells: { team, model, credits, amount } }) => {
    return { line, team: hasTeams ? (team ?? UNASSIGNED) : null, model, credits, amount };
  });
  return { lines: [...Map.groupBy(lines, keyOf).values()].flatMap(sumOf), creditNotes: [] };
}

/** Names what a line charges for. */
export function keyOf({ team, model }: Pick<InvoiceLine, 'team' | 'model'>): string {
  return JSON.stringify([team, model]);
}

function sumOf(lines: readonly InvoiceLine[]): InvoiceLine[] {
  const [first] = lines;
  if (first === undefined) return [];
  const sum = (of: (line: InvoiceLine) => number | null) =>
    lines.every((line) => of(line) === null)
      ? null
      : lines.reduce((total, line) => total + (of(line) ?? 0), 0);
  return [{ ...first, credits: sum(({ credits }) => credits), amount: sum(({ amount }) => amount) }];
}

/** The lines of an invoice, each without the credit notes of the same team and model. */
function linesOf(rows: readonly Row[], mistakes: Mistakes): Charged {
  const all = rows.map(({ line, cells: { team, model, credits, amount } }) => {
    return { line, team, model, credits, amount };
  });
  const isCreditNote = ({ credits, amount }: InvoiceLine) => (amount ?? 0) < 0 || (credits ?? 0) < 0;
  const notes = Map.groupBy(all.filter(isCreditNote), keyOf);
  const lines = new Map<string, InvoiceLine>();
  for (const line of all.filter((one) => !isCreditNote(one))) {
    const earlier = lines.get(keyOf(line));
    if (earlier === undefined) lines.set(keyOf(line), line);
    else {
      const message = `line ${earlier.line} charges ${describe(line)} too`;
      mistakes.add({ line: line.line, message, hint: 'remove one of the two lines, or add them up' });
    }
  }
  addOverlaps([...lines.values()], mistakes);
  return {
    lines: [...lines].flatMap(([key, line]) => sumOf([line, ...(notes.get(key) ?? [])])),
    creditNotes: [...notes].flatMap(([key, own]) => (lines.has(key) ? [] : own)),
  };
}

/** Lines that charge the same usage: one for all teams beside one for a team. */
function addOverlaps(lines: readonly InvoiceLine[], mistakes: Mistakes): void {
  const byKey = new Map(lines.map((line) => [keyOf(line), line]));
  const ofTeams = lines.find(({ team, model }) => team !== null && model === null);
  for (const line of lines) {
    const { team, model } = line;
    const wider = [
      ...(team === null ? [] : [{ team: null, model }]),
      ...(model === null ? [] : [{ team, model: null }]),
      { team: null, model: null },
    ];
    const overlapped =
      wider
        .filter((key) => keyOf(key) !== keyOf(line))
        .flatMap((key) => byKey.get(keyOf(key)) ?? [])
        .at(0) ?? (team === null && model !== null ? ofTeams : undefined);
    if (overlapped === undefined) continue;
    mistakes.add({
      line: line.line,
      message: `line ${overlapped.line} charges ${describe(overlapped)}, which includes ${describe(line)} or a part of it`,
      hint: 'leave out totals and subtotals, so that each credit is charged once',
    });
  }
}

/** Says in words what a line charges for. */
export function describe({ team, model }: Pick<InvoiceLine, 'team' | 'model'>): string {
  if (team === null && model === null) return 'all teams and models';
  if (model === null) return `the team ${team}`;
  return team === null ? `the model ${model}` : `the team ${team} with the model ${model}`;
}

function notesOf(
  { lines, creditNotes }: Charged,
  currency: string | null,
  unread: readonly string[],
): string[] {
  const notes: string[] = [];
  const lacking = lines.filter(({ credits, amount }) => credits === null && amount !== null).length;
  if (unread.length > 0) notes.push(`Columns that were not read: ${unread.join(', ')}.`);
  if (lacking > 0) {
    notes.push(
      `Lines with an amount and without credits: ${lacking}. Whether a difference is one of credits or of the price is not known.`,
    );
  }
  if (lines.length > 0 && lines.every(({ amount }) => amount === null)) {
    notes.push('The invoice has no amounts, so only credits were compared.');
  }
  if (currency === null && lines.some(({ amount }) => amount !== null)) {
    notes.push('The invoice names no currency; its amounts are taken to be in the currency of the prices.');
  }
  if (creditNotes.length > 0) {
    notes.push('A credit note for the team and model of no line is part of the total alone.');
  }
  return notes;
}
