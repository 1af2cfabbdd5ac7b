import { decodedChunks } from '../encoded-rows.ts';
import { type DayEntry, planCommit } from '../ledger-transitions.ts';
import { type CommitOutcome, type DayCommit, dayKey, type LedgerDay, rowCount } from '../port.ts';
import type { Connection } from './connection.ts';
import { noteDrift, readUnit, replaceQuarantine, writeRestatement, writeSettled } from './ledger.ts';
import { type RowChunks, replaceScope, type Scope } from './rows.ts';
import { sumsOf } from './sums.ts';

/** A day to store, with its rows in chunks. */
export interface ChunkedDay extends DayEntry {
  readonly tables: readonly RowChunks[];
}

export function chunkedDay(commit: DayCommit): ChunkedDay {
  const tables = commit.tables.map((part) => ({ table: part.table, chunks: decodedChunks(part) }));
  return { ...commit, rows: rowCount(commit), tables };
}

/** Stores days, see `Warehouse.commitDays`. Call inside a transaction. */
export function commitDays(connection: Connection, days: readonly ChunkedDay[]): CommitOutcome[] {
  const plans = days.map((day) => planCommit(readUnit(connection, dayKey(day.orgId, day)), day));
  const written: number[] = [];
  for (const plan of plans) written.push(storeDay(connection, plan));
  const changed = plans.map(({ after, commit }) => ({ unit: after, rule: commit.rule, isCommitted: true }));
  const settled = writeSettled(connection, changed);
  return plans.map(({ commit, restated }, index) => ({
    rowsWritten: written[index] ?? 0,
    restated,
    units: settled.filter(({ day }) => day === commit.day),
  }));
}

function storeDay(
  connection: Connection,
  plan: { commit: ChunkedDay; after: LedgerDay; before: LedgerDay; writesRows: boolean; restated: boolean },
): number {
  const { commit, after } = plan;
  const written = plan.writesRows ? storeRows(connection, plan) : 0;
  replaceQuarantine(connection, after, commit.quarantined, commit.pulledAt);
  noteDrift(connection, after, commit.drift, commit.day);
  return written;
}

function storeRows(
  connection: Connection,
  { commit, before, restated }: { commit: ChunkedDay; before: LedgerDay; restated: boolean },
): number {
  const scope: Scope = { columns: ['org_id', 'date'], values: [commit.orgId, commit.day] };
  const specs = commit.tables.map(({ table }) => table);
  const sums = (sha256: string | null) => sumsOf(connection, specs, { ...scope, sha256 });
  const sumsBefore = restated ? sums(before.contentSha256) : '';
  let written = 0;
  for (const rows of commit.tables) written += replaceScope(connection, rows, scope);
  if (restated) writeRestatement(connection, before, commit.pulledAt, sumsBefore, sums(commit.contentSha256));
  return written;
}
