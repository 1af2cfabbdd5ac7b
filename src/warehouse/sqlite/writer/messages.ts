import { allTables } from '../../../../schema/tables.ts';
import { decodedChunks } from '../../encoded-rows.ts';
import type { DayEntry } from '../../ledger-transitions.ts';
import { type CommitOutcome, type DayCommit, rowCount } from '../../port.ts';
import type { ChunkedDay } from '../commit-day.ts';
import type { SentError } from './sent-error.ts';

/** A day as it travels: its rows as texts, which are copied at a tenth of the cost of rows. */
interface SentDay extends DayEntry {
  readonly tables: readonly { readonly name: string; readonly texts: readonly string[] }[];
}

/** What the thread begins with. */
export interface ThreadStart {
  readonly path: string;
  /** The file that must be found there, see `fileAt`. */
  readonly file: string | undefined;
}

/** What the thread is asked. */
export type Request =
  | { readonly type: 'commit'; readonly doing: string; readonly days: readonly SentDay[] }
  /** The process was asked to stop: waits for other programs are cut short. */
  | { readonly type: 'stop' }
  /** Close the file and end. */
  | { readonly type: 'close' };

/** What the thread says; it answers commits in their order. */
export type Reply =
  | { readonly type: 'ready' }
  | { readonly type: 'committed'; readonly outcomes: readonly CommitOutcome[] }
  | { readonly type: 'failed'; readonly error: SentError };

/** A commit for the thread. */
export function sentDay(commit: DayCommit): SentDay {
  const tables = commit.tables.map(({ table, texts }) => ({ name: table.name, texts }));
  return { ...commit, rows: rowCount(commit), tables };
}

/** The day that was sent. A chunk is decoded when its turn comes, so that few rows are in memory at a time. */
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
