import { type CommitOutcome, type DayCommit, rowCount } from '../../port.ts';
import { chunkedDay, commitDays } from '../commit-day.ts';
import type { Connection } from '../connection.ts';
import { WriterThread } from './thread.ts';

/** Rows that are written before a thread is worth its start: about what they take. */
const ROWS_WITHOUT_THREAD = 4_000;

/** Writes days: here at first, and by a thread once there is much to write. */
export class DayWriter {
  readonly #connection: Connection;
  readonly #signal: AbortSignal | undefined;
  #rows = 0;
  /** Undefined until it is tried to start one, null where none is to be had. */
  #thread: WriterThread | null | undefined;

  constructor(connection: Connection, signal: AbortSignal | undefined) {
    this.#connection = connection;
    this.#signal = signal;
  }

  /** Stores days in one transaction, see `Warehouse.commitDays`. */
  commitDays(doing: string, commits: readonly DayCommit[]): Promise<CommitOutcome[]> {
    const connection = this.#connection;
    const thread = this.#threadFor(commits);
    if (thread?.isReady === true) {
      return connection.elsewhere(() => thread.commitDays(doing, commits));
    }
    const days = commits.map(chunkedDay);
    return connection.transaction(doing, () => commitDays(connection, days));
  }

  /** Ends it once all is written that was asked. */
  close(): Promise<void> {
    return this.#connection.elsewhere(async () => this.#thread?.close());
  }

  #threadFor(commits: readonly DayCommit[]): WriterThread | null | undefined {
    const isWorthwhile = this.#rows > ROWS_WITHOUT_THREAD;
    this.#rows += commits.reduce((sum, commit) => sum + (commit.unchanged ? 0 : rowCount(commit)), 0);
    if (isWorthwhile && this.#thread === undefined)
      this.#thread = WriterThread.start(
        { path: this.#connection.path, file: this.#connection.file },
        this.#signal,
      );
    return this.#thread;
  }
}
