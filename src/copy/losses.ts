import type { AnyTable } from '../../schema/define.ts';
import { columnsOf, keyOf, readerOf, type Values } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import type { DecidedSides } from './decided-source.ts';
import { differencesOf, type Sides, type UnitPair } from './sides.ts';

const { hookEvents, sessions, exportRuns, organizations, people, prices, budgets, events, publishedWeeks } =
  tables;
/** Tables whose rows belong to no unit. */
const COUNTED_TABLES: readonly AnyTable[] = [
  sessions,
  hookEvents,
  exportRuns,
  organizations,
  people,
  prices,
  budgets,
  events,
  publishedWeeks,
];

/** The most names that a message lists; it counts the rest. */
const EXAMPLES_MAX = 3;
/** The most rows that are searched for under another key; further ones count as lost. */
const FOLLOWED_MAX = 100_000;

/** Number of things that a copy would remove, and the names of the first ones. */
interface Named {
  count: number;
  readonly examples: string[];
}

/** The data that only the destination holds and that a copy would remove. */
export interface Losses {
  /** Organizations that the source lacks. */
  readonly organizations: Named;
  /** Units that the source lacks, and units that were pulled later than in the source. */
  readonly missing: Named;
  readonly newer: Named;
  /** Rows that the source lacks, by table. */
  readonly rows: Map<string, number>;
}

export function noLosses(): Losses {
  const none = (): Named => ({ count: 0, examples: [] });
  return { organizations: none(), missing: none(), newer: none(), rows: new Map() };
}

/** Notes an organization that the source lacks. */
export function noteOrganization({ organizations }: Losses, orgId: string): void {
  note(organizations, orgId);
}

/** Notes the units of an organization that a copy would remove or replace by older ones. */
export function noteUnits(losses: Losses, pairs: readonly UnitPair[]): void {
  for (const { stream, day, source, stored } of pairs) {
    if (stored === null) continue;
    const name = `${stream} ${day}`.trim();
    if (source === null) note(losses.missing, name);
    else if ((stored.lastPulledAt ?? '') > (source.lastPulledAt ?? '')) note(losses.newer, name);
  }
}

/** Notes the sessions, events and runs that a copy would remove. */
export async function noteRows(losses: Losses, work: DecidedSides): Promise<void> {
  for (const table of COUNTED_TABLES) {
    const rows = (await isEmpty(work, table)) ? 0 : await rowsOnlyStored(work, table);
    if (rows > 0) losses.rows.set(table.name, rows);
  }
}

/** Describes the losses in words; returns null if there are none. */
export function describeLosses({ organizations, missing, newer, rows }: Losses): string | null {
  const parts = [
    ...(organizations.count === 0 ? [] : [`all of ${listNames(organizations)}`]),
    ...(missing.count === 0
      ? []
      : [`${count(missing.count, 'unit')} that the source lacks (${listNames(missing)})`]),
    ...(newer.count === 0
      ? []
      : [`${count(newer.count, 'unit')} pulled later than the source's (${listNames(newer)})`]),
    ...[...rows].map(([table, number]) => `${count(number, 'row')} of ${table}`),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

async function isEmpty({ stored }: Sides, table: AnyTable): Promise<boolean> {
  for await (const rows of stored.scan(table)) if (rows.length > 0) return false;
  return true;
}

/**
 * The rows that the source has under no key. An event without an organization gets one later and is still the same event, and the row of
 * somebody who is kept out is that of the pseudonym. The rows of an organization that is kept out are to go.
 */
async function rowsOnlyStored(sides: DecidedSides, table: AnyTable): Promise<number> {
  const orgOf = orgReader(table);
  const pass = sides.passerOf(table);
  const nameOf = nameReader(table);
  const followed = new Set<string>();
  let only = 0;
  for await (const found of differencesOf(sides, { table })) {
    for (const { row } of found.filter(({ kind }) => kind === 'remove')) {
      if (sides.keepsOut(orgOf(row))) continue;
      const mayFollow = pass(row) !== row || (table === hookEvents && orgOf(row) === '');
      if (mayFollow && followed.size < FOLLOWED_MAX) followed.add(nameOf(pass(row)));
      else only += 1;
    }
  }
  if (followed.size > 0)
    for await (const rows of sides.source.scan(table)) for (const row of rows) followed.delete(nameOf(row));
  return only + followed.size;
}

function orgReader(table: AnyTable): (row: Values) => string {
  const position = columnsOf(table).indexOf('org_id');
  return (row) => String(row[position] ?? '');
}

/** A function that names a row, the same in every organization for an event. */
function nameReader(table: AnyTable): (row: Values) => string {
  const key = keyOf(table);
  const eventOf = readerOf(hookEvents, 'event_id');
  return (row) => (table === hookEvents ? String(eventOf(row)) : JSON.stringify(key(row)));
}

function count(number: number, noun: string): string {
  return `${number} ${number === 1 ? noun : `${noun}s`}`;
}

function note(named: Named, name: string): void {
  named.count += 1;
  if (named.examples.length < EXAMPLES_MAX) named.examples.push(name);
}

function listNames({ count: all, examples }: Named): string {
  const more = all - examples.length;
  return `${examples.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
