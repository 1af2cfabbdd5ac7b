import type { AnyTable } from '../../schema/define.ts';
import { ContentHash, warehouseSha256 } from '../../schema/digest.ts';
import { columnsOf, keyOf, readerOf, type Values } from '../../schema/row.ts';
import { contentTables, copiedTables, tables } from '../../schema/tables.ts';
import { UsageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-code.ts';
import { DAILY_STREAMS } from '../core/stream.ts';
import type { RunLock, Warehouse } from '../port/index.ts';
import { writeState } from '../records/index.ts';
import { refreshAllRollups } from '../rollups/index.ts';
import { type CopyWriter, createCopyWriter } from './copy-writer.ts';
import { type DecidedSides, decidedSource, type Given } from './decided-source.ts';
import type { CopyObserver, CopyReport } from './events.ts';
import { moveDays, moveReadiness, moveTable } from './move.ts';
import { forgetReplaced, marksOf, OWN_TABLES } from './own-rows.ts';
import {
  canonicalRow,
  differencesOf,
  inTurns,
  isSamePair,
  organizationsOf,
  type Sides,
  type Source,
  type UnitPair,
  unitPairs,
} from './sides.ts';

/** The tables whose rows belong to no unit. The record of the runs comes last. */
const UNITLESS = [
  tables.sessions,
  tables.hookEvents,
  tables.schemaDrift,
  tables.exportRuns,
  tables.organizations,
  tables.contracts,
  tables.people,
  tables.prices,
  tables.budgets,
  tables.events,
  tables.publishedWeeks,
  tables.acts,
  tables.archives,
] as const;

/** A copy to make. */
interface CopyWork extends Sides, Omit<Given, 'source'> {
  /** The exclusive lock of the destination. */
  readonly lock: RunLock;
  /** Make the destination equal even if it loses rows, and compare every row. */
  readonly replace: boolean;
  /** Takes what the destination has forgotten out of the lakes that it was published to. */
  readonly renewLakes: () => Promise<unknown>;
}

/** A copy whose source shows what was decided. */
type Work = CopyWork & DecidedSides;

/**
 * Makes the destination hold what the source holds, then compares the two. Call inside a snapshot of the source. It may be
 * repeated, also after a kill at any instant: rows that are equal are not written again.
 * @throws {UsageError} when the destination holds something that the source lacks, unless `replace` is set.
 * @throws {BusyError} as {@link decidedSource}
 */
export async function copyAll(
  given: Omit<CopyWork, 'source'> & { readonly source: Warehouse },
): Promise<CopyReport> {
  const { source, destination, clock, observe } = given;
  const startedMs = clock.monotonicMs();
  const [from, to] = [source.location, destination.location];
  observe({ type: 'copy-started', from, to });
  const { forgets, ...decided } = await decidedSource(given);
  const work: Work = { ...given, ...decided };
  const plan = await planCopy(work);
  refuseLosses(work, plan.losses);
  observe({ type: 'copy-planned', units: plan.units, unchanged: plan.unchanged });
  for (const [name, value] of marksOf(forgets, work.mark)) await writeState(destination, '', name, value);
  const writer = createCopyWriter(work);
  writer.counts.unitsUnchanged = plan.unchanged;
  await moveAll(work, writer);
  const comparison = await compareAndRefresh(work, writer.counts.rowsWritten > 0);
  const isSame = comparison.tables.every((table) => table.isSame);
  if (forgets) await forgetReplaced(destination, work);
  const { unitsMoved, unitsUnchanged, unitsRemoved, rowsWritten } = writer.counts;
  const report: CopyReport = {
    from,
    to,
    exitCode: isSame ? EXIT.ok : EXIT.quarantine,
    ...{ unitsMoved, unitsUnchanged, unitsRemoved, rowsWritten },
    tables: comparison.tables.map((table) => ({
      ...table,
      ...(writer.counts.tables.get(table.table) ?? { written: 0, removed: 0 }),
    })),
    digest: comparison.digest,
    durationMs: clock.monotonicMs() - startedMs,
  };
  observe({ type: 'copy-ended', report });
  return report;
}

/**
 * Compares the sides while the destination computes its rollups: a copy moves none. PostgreSQL does so in a process of its own,
 * SQLite in the time that the comparison leaves.
 */
async function compareAndRefresh(work: CopyWork, hasWritten: boolean): Promise<Comparison> {
  const { destination, stored, clock, signal, observe } = work;
  const refresh = async () => {
    await refreshAllRollups(destination, { now: clock.now(), signal });
    signal.throwIfAborted();
    if (hasWritten) await destination.refreshStatistics();
  };
  const [compared, refreshed] = await Promise.allSettled([
    stored.inSnapshot(() => compareSides(work, observe)),
    refresh(),
  ]);
  if (refreshed.status === 'rejected') throw refreshed.reason;
  if (compared.status === 'rejected') throw compared.reason;
  return compared.value;
}

interface CopyPlan {
  /** Number of units to move or to compare row by row. */
  readonly units: number;
  /** Number of units left out because both ledgers agree on them. */
  readonly unchanged: number;
  readonly losses: Losses;
}

/** Compares the ledgers of both sides; writes nothing. */
async function planCopy(work: Work): Promise<CopyPlan> {
  const losses = noLosses();
  const known = new Set(await work.source.organizations());
  let units = 0;
  let unchanged = 0;
  for (const orgId of await organizationsOf(work)) {
    const pairs = await unitPairs(work, orgId);
    const same = work.replace ? 0 : pairs.filter(isSamePair).length;
    unchanged += same;
    units += pairs.length - same;
    if (known.has(orgId)) noteUnits(losses, pairs);
    else if (!work.keepsOut(orgId)) noteOrganization(losses, orgId);
    work.signal.throwIfAborted();
  }
  await noteRows(losses, work);
  return { units, unchanged, losses };
}

function refuseLosses({ source, destination, replace, observe }: CopyWork, losses: Losses): void {
  const lost = describeLosses(losses);
  if (lost === null) return;
  if (replace) {
    observe({ type: 'copy-replaces', to: destination.location, lost });
    return;
  }
  throw new UsageError(
    `copy into ${destination.location}: it holds what ${source.location} does not: ${lost}; nothing was written`,
    { hint: 'copy into a new place', reason: 'copy-loses-rows' },
  );
}

async function moveAll(work: CopyWork, writer: CopyWriter): Promise<void> {
  for (const table of OWN_TABLES) await moveTable(work, writer, table);
  for (const orgId of await organizationsOf(work)) {
    const pairs = await unitPairs(work, orgId);
    for (const stream of DAILY_STREAMS) {
      const own = pairs.filter((pair) => pair.stream === stream);
      await moveDays(work, writer, { orgId, stream, pairs: own, all: work.replace });
    }
    const readiness = pairs.find(({ stream }) => stream === 'readiness');
    if (readiness !== undefined && (work.replace || !isSamePair(readiness)))
      await moveReadiness(work, writer, { orgId, pair: readiness });
  }
  for (const table of UNITLESS) await moveTable(work, writer, table);
}

/** The comparison of one table. */
interface ComparedTable {
  readonly table: string;
  /** Rows in the source. */
  readonly rows: number;
  readonly isSame: boolean;
}

/** The comparison of source and destination. */
interface Comparison {
  readonly tables: readonly ComparedTable[];
  /** The digests of the content, as `daywalk digest` prints them. */
  readonly digest: { readonly from: string; readonly to: string };
}

/** Reads every table of both sides but the rollups, the ledger too, and compares their digests. Call inside a snapshot of each side. */
async function compareSides(sides: Sides, observe: CopyObserver): Promise<Comparison> {
  const tables: ComparedTable[] = [];
  const content = { from: new Map<string, string>(), to: new Map<string, string>() };
  for (const table of copiedTables) {
    observe({ type: 'copy-comparing', table: table.name });
    const [from, to] = await Promise.all(
      [sides.source, sides.stored].map((warehouse) => hashTable(warehouse, table, sides.signal)),
    );
    if (from === undefined || to === undefined) continue;
    tables.push({ table: table.name, rows: from.rows, isSame: from.sha256 === to.sha256 });
    if (!contentTables.includes(table)) continue;
    content.from.set(table.name, from.sha256);
    content.to.set(table.name, to.sha256);
  }
  return {
    tables,
    digest: { from: warehouseSha256(content.from), to: warehouseSha256(content.to) },
  };
}

async function hashTable(warehouse: Pick<Source, 'scan'>, table: AnyTable, signal: AbortSignal) {
  // Content is stored in canonical form. The JSON of the ledger is not: the databases may store it in different forms.
  const isLedger = !contentTables.includes(table);
  const canonical = canonicalRow(table);
  const hash = new ContentHash();
  hash.begin(table);
  let count = 0;
  for await (const rows of inTurns(warehouse.scan(table), signal)) {
    hash.add(isLedger ? rows.map(canonical) : rows);
    count += rows.length;
  }
  return { rows: count, sha256: hash.hex() };
}

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
