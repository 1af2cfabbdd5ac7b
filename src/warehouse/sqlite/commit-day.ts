import { afterCommit, restates } from '../ledger.ts';
import type { CommitOutcome, DayCommit, LedgerUnit } from '../port.ts';
import type { Connection } from './connection.ts';
import { noteDrift, readUnit, replaceQuarantine, writeRestatement, writeUnit } from './ledger.ts';
import { replaceScope, type Scope } from './rows.ts';
import { sumsOf } from './sums.ts';

/** Stores one day of one stream, see `Warehouse.commitDay`. Call inside a transaction. */
export function commitDay(connection: Connection, commit: DayCommit): CommitOutcome {
  const before = readUnit(connection, commit);
  const restated = restates(before, commit);
  const isSame = before.contentSha256 === commit.contentSha256 && commit.rewrite !== true;
  const rowsWritten = isSame ? 0 : writeContent(connection, commit, before, restated);
  replaceQuarantine(connection, commit, commit.quarantined, commit.pulledAt);
  noteDrift(connection, commit, commit.drift, commit.day);
  writeUnit(connection, afterCommit(before, commit));
  return { rowsWritten, restated };
}

function writeContent(
  connection: Connection,
  commit: DayCommit,
  unit: LedgerUnit,
  restated: boolean,
): number {
  const scope: Scope = { columns: ['org_id', 'date'], values: [commit.orgId, commit.day] };
  const specs = commit.tables.map(({ table }) => table);
  const before = restated ? sumsOf(connection, specs, { ...scope, sha256: unit.contentSha256 }) : '';
  let written = 0;
  for (const rows of commit.tables) written += replaceScope(connection, rows, scope);
  if (restated) {
    const after = sumsOf(connection, specs, { ...scope, sha256: commit.contentSha256 });
    writeRestatement(connection, commit, commit.pulledAt, before, after);
  }
  return written;
}
