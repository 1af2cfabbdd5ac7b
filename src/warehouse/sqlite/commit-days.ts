import { allTables } from '../../../schema/tables.ts';
import {
  type Advice,
  adviceOf,
  BusyError,
  ClaimLostError,
  DamagedError,
  messageOf,
  StorageError,
  UsageError,
} from '../../core/errors.ts';
import { type DayEntry, planCommit } from '../ledger-transitions.ts';
import { type CommitOutcome, type DayCommit, dayKey, type LedgerDay, rowCount } from '../port.ts';
import { decodedChunks } from '../rows.ts';
import type { Connection } from './connection.ts';
import { noteDrift, readUnit, replaceQuarantine, sumsOf, writeRestatement, writeSettled } from './ledger.ts';
import { type RowChunks, replaceScope, type Scope } from './rows.ts';

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

/** A day to send to the thread. Its rows are texts, because copying texts takes a tenth of the time of copying arrays. */
interface SentDay extends DayEntry {
  readonly tables: readonly { readonly name: string; readonly texts: readonly string[] }[];
}

export interface ThreadStart {
  readonly path: string;
  /** The file that must be at the path, see `fileAt`. */
  readonly file: string | undefined;
}

/** A message to the thread. */
export type WriterRequest =
  | { readonly type: 'commit'; readonly doing: string; readonly days: readonly SentDay[] }
  /** The process has to stop: do not wait for other programs any more. */
  | { readonly type: 'stop' }
  /** Close the file and end the thread. */
  | { readonly type: 'close' };

/** A message from the thread. It answers commits in their order. */
export type WriterResponse =
  | { readonly type: 'ready' }
  | { readonly type: 'committed'; readonly outcomes: readonly CommitOutcome[] }
  | { readonly type: 'failed'; readonly error: SentError };

/** Prepares a commit for the thread. */
export function sentDay(commit: DayCommit): SentDay {
  const tables = commit.tables.map(({ table, texts }) => ({ name: table.name, texts }));
  return { ...commit, rows: rowCount(commit), tables };
}

/** Returns the day that was sent. Each chunk of rows is decoded when it is needed, so that few rows are in memory. */
export function receivedDay(day: SentDay): ChunkedDay {
  return {
    ...day,
    tables: day.tables.map(({ name, texts }) => {
      const table = allTables.find((known) => known.name === name);
      if (table === undefined) throw new TypeError(`there is no table ${name}`);
      return { table, chunks: decodedChunks({ texts }) };
    }),
  };
}

/** An error sent between threads, which would otherwise lose its class and its advice. */
export interface SentError extends Advice {
  readonly kind: Kind | undefined;
  readonly message: string;
}

/** The classes that callers distinguish; a subclass comes before its superclass. */
const KINDS = {
  damaged: DamagedError,
  storage: StorageError,
  busy: BusyError,
  claim: ClaimLostError,
  usage: UsageError,
};

type Kind = keyof typeof KINDS;

/** An error, ready to be sent. */
export function sentError(error: unknown): SentError {
  const names = Object.keys(KINDS) as Kind[];
  const kind = names.find((name) => error instanceof KINDS[name]);
  return { kind, message: messageOf(error), ...adviceOf(error) };
}

/** The error that was sent. */
export function receivedError({ kind, message, ...advice }: SentError): Error {
  return kind === undefined ? new Error(message) : new KINDS[kind](message, advice);
}
