import { decodedChunks } from '../encoded-rows.ts';
import { afterCommit, type DayEntry, restates } from '../ledger-transitions.ts';
import { type CommitOutcome, type DayCommit, type LedgerUnit, rowCount } from '../port.ts';
import type { Connection } from './connection.ts';
import { noteDrift, readUnit, replaceQuarantine, settleUnits, writeRestatement } from './ledger.ts';
import { type RowChunks, replaceScopeInSteps, type Scope } from './rows.ts';
import type { Steps } from './steps.ts';
import { sumsOf } from './sums.ts';

/** A day to be stored, its rows by the chunk. */
export interface ChunkedDay extends DayEntry {
  readonly tables: readonly RowChunks[];
}

/** The day of a commit. */
export function chunkedDay(commit: DayCommit): ChunkedDay {
  const tables = commit.tables.map((part) => ({ table: part.table, chunks: decodedChunks(part) }));
  return { ...commit, rows: rowCount(commit), tables };
}

/** Stores days, see `Warehouse.commitDays`. Call inside a transaction. */
export function* commitDays(connection: Connection, days: readonly ChunkedDay[]): Steps<CommitOutcome[]> {
  const outcomes: CommitOutcome[] = [];
  for (const day of days) outcomes.push(yield* commitDay(connection, day));
  return outcomes;
}

function* commitDay(connection: Connection, commit: ChunkedDay): Steps<CommitOutcome> {
  const before = readUnit(connection, commit);
  const after = afterCommit(before, commit);
  const restated = restates(before, commit);
  const isSame = before.contentSha256 === commit.contentSha256 && commit.rewrite !== true;
  const rowsWritten = isSame ? 0 : yield* writeContent(connection, commit, before, restated);
  replaceQuarantine(connection, commit, commit.quarantined, commit.pulledAt);
  noteDrift(connection, commit, commit.drift, commit.day);
  const units = settleUnits(connection, after, commit.rule, { isCommitted: true });
  return { rowsWritten, restated, units };
}

function* writeContent(
  connection: Connection,
  commit: ChunkedDay,
  unit: LedgerUnit,
  restated: boolean,
): Steps<number> {
  const scope: Scope = { columns: ['org_id', 'date'], values: [commit.orgId, commit.day] };
  const specs = commit.tables.map(({ table }) => table);
  const before = restated ? sumsOf(connection, specs, { ...scope, sha256: unit.contentSha256 }) : '';
  let written = 0;
  for (const rows of commit.tables) written += yield* replaceScopeInSteps(connection, rows, scope);
  if (restated) {
    const after = sumsOf(connection, specs, { ...scope, sha256: commit.contentSha256 });
    writeRestatement(connection, commit, commit.pulledAt, before, after);
  }
  return written;
}
