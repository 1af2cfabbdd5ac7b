import type { AnyTable } from '../../schema/define.ts';
import { ContentHash, warehouseSha256 } from '../../schema/digest.ts';
import { contentTables, copiedTables, tables } from '../../schema/tables.ts';
import { UsageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-code.ts';
import { DAILY_STREAMS } from '../core/stream.ts';
import type { RunLock, Warehouse } from '../port/index.ts';
import { writeState } from '../records/index.ts';
import { refreshAllRollups } from '../rollups/index.ts';
import { type CopyCounts, type CopyWriter, createCopyWriter } from './copy-writer.ts';
import { type DecidedSides, decidedSource, type Given } from './decided-source.ts';
import type { CopyObserver, CopyReport } from './events.ts';
import { describeLosses, type Losses, noLosses, noteOrganization, noteRows, noteUnits } from './losses.ts';
import { moveDays, moveReadiness, moveTable } from './move.ts';
import { forgetReplaced, marksOf, OWN_TABLES } from './own-rows.ts';
import {
  canonicalRow,
  inTurns,
  isSamePair,
  organizationsOf,
  type Sides,
  type Source,
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
  const report: CopyReport = {
    from,
    to,
    exitCode: isSame ? EXIT.ok : EXIT.quarantine,
    ...totalsOf(writer.counts),
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

function totalsOf({ unitsMoved, unitsUnchanged, unitsRemoved, rowsWritten }: CopyCounts) {
  return { unitsMoved, unitsUnchanged, unitsRemoved, rowsWritten };
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
