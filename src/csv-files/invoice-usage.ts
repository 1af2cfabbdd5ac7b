import { sql } from '../../schema/query.ts';
import { validOn } from '../../schema/row.ts';
import { isDay, type Month, type UtcDay } from '../core/day.ts';
import { nearestName } from '../core/errors.ts';
import { runReads, type Warehouse } from '../port/index.ts';
import { UNASSIGNED } from '../rollups/index.ts';
import { Mistakes } from './csv-columns.ts';
import { type Invoice, type InvoiceLine, keyOf } from './invoice-file.ts';
import { storedPrices } from './prices.ts';
import { storedRows } from './replace-rows.ts';

/** What a team has consumed of a model on a day, at the price of the day. */
interface Charge {
  readonly day: UtcDay;
  /** Null for the credits of the day's total that no user and model has. */
  readonly subject: { readonly modelId: string } | null;
  readonly team: string | null;
  readonly tokens: number;
  readonly cost: number;
}

/** What a month costs, by day. */
export interface MonthCharges {
  readonly currency: string | null;
  /** Why the charges are those of models alone, as a clause; null if they are those of teams too. */
  readonly notKept: string | null;
  byDay(): AsyncIterable<readonly Charge[]>;
}

/** What was used of a team and a model, or of all of them. */
export interface Usage extends Pick<InvoiceLine, 'team' | 'model'> {
  readonly credits: number;
  readonly amount: number;
}

/** The model of credits that no user and model has, as in FOCUS files. */
const UNATTRIBUTED = 'unattributed';

/** What was used in a month, by what an invoice tells apart, and the names of all teams and models. */
export interface MonthUsage {
  /** By {@link keyOf}. */
  readonly parts: ReadonlyMap<string, Usage>;
  readonly names: { readonly team: ReadonlySet<string>; readonly model: ReadonlySet<string> };
}

/** Adds up charges by the lines that charge them; those of no line by what the lines tell apart. */
export async function usageBy(lines: readonly InvoiceLine[], charges: MonthCharges): Promise<MonthUsage> {
  const own = new Set(lines.map(keyOf));
  const [hasTeams, hasModels] = [
    lines.some(({ team }) => team !== null),
    lines.some(({ model }) => model !== null),
  ];
  const parts = new Map<string, Usage>();
  const names = { team: new Set([UNASSIGNED]), model: new Set([UNATTRIBUTED]) };
  for await (const day of charges.byDay()) {
    for (const { subject, team: group, tokens, cost } of day) {
      const [team, model] = [group ?? UNASSIGNED, subject?.modelId ?? UNATTRIBUTED];
      names.team.add(team);
      names.model.add(model);
      const rest = { team: hasTeams ? team : null, model: hasModels ? model : null };
      const wider = [
        { team, model },
        { team, model: null },
        { team: null, model },
        { team: null, model: null },
      ];
      const place = wider.find((one) => own.has(keyOf(one))) ?? rest;
      const { credits = 0, amount = 0 } = parts.get(keyOf(place)) ?? {};
      parts.set(keyOf(place), { ...place, credits: credits + tokens, amount: amount + cost });
    }
  }
  return { parts, names };
}

/** An invoice whose names are looked for. */
interface KnownRequest {
  readonly orgId: string;
  readonly invoice: Invoice;
  /** The name of its file in messages. */
  readonly file: string;
  readonly charges: Pick<MonthCharges, 'notKept'>;
}

/**
 * Checks the names of an invoice.
 * @throws {UsageError} for lines of teams that are not kept, and of teams and models that are unknown.
 */
export async function expectKnown(
  warehouse: Pick<Warehouse, 'select'>,
  { orgId, invoice: { isFocus, lines, creditNotes }, file, charges: { notKept } }: KnownRequest,
  { parts, names }: MonthUsage,
): Promise<void> {
  const mistakes = new Mistakes(file);
  const all = [...lines, ...creditNotes];
  if (notKept !== null) {
    for (const { line, team } of all) {
      if (team === null) continue;
      const message = `${notKept}, so what the team ${team} has consumed is not known`;
      mistakes.add({ line, message, hint: 'check an invoice without teams, by model or as a whole' });
    }
    mistakes.refuse();
  }
  // A team of an older file may have another name by now; then its lines differ.
  const unknown = isFocus ? [] : all.filter((line) => !parts.has(keyOf(line)));
  for (const name of ['team', 'model'] as const) {
    const asked = unknown.filter((line) => line[name] !== null);
    const others = asked.length === 0 ? [] : await namesOf(warehouse, orgId, name);
    const known = [...new Set([...names[name], ...others])];
    for (const line of asked) {
      const text = line[name] ?? '';
      if (known.includes(text)) continue;
      const near = nearestName(text, known);
      mistakes.add({
        line: line.line,
        message: `unknown ${name} "${text}"`,
        hint:
          near === undefined ? `write the ${name} as in the warehouse: ${shortened(known)}` : `write ${near}`,
      });
    }
  }
  mistakes.refuse();
}

/** The most names or days that a message lists. */
const NAMED_MAX = 10;

/** Lists the first of many names. */
export function shortened(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return [...names.slice(0, NAMED_MAX), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** All teams or models of an organization. */
async function namesOf(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  name: 'team' | 'model',
): Promise<string[]> {
  const rows = await warehouse.select(
    name === 'team'
      ? sql`SELECT DISTINCT team AS name FROM people WHERE org_id = ${orgId} AND team IS NOT NULL`
      : sql`SELECT DISTINCT model_id AS name FROM tokens_daily_by_model WHERE org_id = ${orgId}`,
  );
  return rows.map((row) => String(row['name'])).toSorted();
}

/** A day that was restated after the date of the invoice. */
export interface RestatedDay {
  readonly date: string;
  /** When the last change was found. */
  readonly detected_at: string;
  /** How much the credits of the organization have changed since; 0 if only their division has. */
  readonly change_credits: number;
  readonly change_amount: number;
}

/** The days of a month that were restated after the date of an invoice. Restatements know sums of the organization only. */
export async function restatedDays(
  warehouse: Warehouse,
  {
    orgId,
    month,
    invoiceDate,
  }: { readonly orgId: string; readonly month: Month; readonly invoiceDate: UtcDay },
): Promise<RestatedDay[]> {
  const prices = await runReads(warehouse, storedRows(storedPrices, orgId));
  const rows = await warehouse.select(sql`SELECT date, MAX(detected_at) AS detected_at,
    SUM(CASE WHEN table_name = 'tokens_daily' AND column_name = 'billable_tokens' THEN change ELSE 0 END) AS change
  FROM restated_days
  WHERE org_id = ${orgId} AND stream = 'tokens' AND date BETWEEN ${month.first} AND ${month.last}
    AND detected_at > ${`${invoiceDate}T23:59:59.999Z`}
  GROUP BY date ORDER BY date`);
  return rows.flatMap(({ date, detected_at, change }) => {
    if (!isDay(date)) return [];
    const credits = Number(change ?? 0);
    return [
      {
        ...{ date, detected_at: String(detected_at), change_credits: credits },
        change_amount: (credits / 1_000_000) * (validOn(prices, date)?.price_per_million ?? 0),
      },
    ];
  });
}
