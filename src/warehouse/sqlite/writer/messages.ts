import { allTables } from '../../../../schema/tables.ts';
import { decodedChunks } from '../../encoded-rows.ts';
import type { DayEntry } from '../../ledger-transitions.ts';
import { type CommitOutcome, type DayCommit, rowCount } from '../../port.ts';
import type { ChunkedDay } from '../commit-day.ts';
import type { SentError } from './sent-error.ts';

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
