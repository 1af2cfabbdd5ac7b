import { type CommitOutcome, type DayCommit, rowCount } from '../../port.ts';
import { chunkedDay, commitDays } from '../commit-day.ts';
import type { Connection } from '../connection.ts';
import { WriterThread } from './thread.ts';

/** Starting a thread takes about as long as writing this many rows. */
const ROWS_WITHOUT_THREAD = 4_000;

/** Writes days: on this thread at first, and on another one once there is much to write. */
export class DayWriter {
  readonly #connection: Connection;
  readonly #signal: AbortSignal | undefined;
  #rows = 0;
  /** Undefined before the first attempt to start one; null if none can be started. */
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
      return connection.runInTurn(() => thread.commitDays(doing, commits));
    }
    const days = commits.map(chunkedDay);
    return connection.transaction(doing, () => commitDays(connection, days));
  }

  /** Ends the thread after all pending commits. */
  close(): Promise<void> {
    return this.#connection.runInTurn(async () => this.#thread?.close());
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
