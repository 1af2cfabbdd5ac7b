import { DaywalkError } from '../../../core/errors.ts';
import { type CommitOutcome, type DayCommit, rowCount } from '../../../warehouse/port.ts';

/** Maximum number of rows in one transaction, unless a single day has more. */
const GROUP_ROWS_MAX = 4_000;
const GROUP_UNITS_MAX = 64;
/** Maximum number of rows that wait to be written; a caller that adds more has to wait. */
const WAITING_ROWS_MAX = 8_000;

export interface Written {
  readonly commit: DayCommit;
  /** The outcome of the commit, or the error because of which nothing of the day was stored. */
  readonly result: CommitOutcome | { readonly error: unknown };
}

interface Waiting {
  readonly commit: DayCommit;
  readonly rows: number;
  readonly onWritten: (written: Written) => Promise<void> | void;
}

/**
 * Commits days, one transaction after the other, while the next ones are pulled. Small days that wait together share a
 * transaction. If it fails because of one of them, they are committed one by one.
 */
export class CommitQueue {
  readonly #store: (commits: readonly DayCommit[]) => Promise<CommitOutcome[]>;
  readonly #waiting: Waiting[] = [];
  #waitingRows = 0;
  #work: Promise<void> | undefined;
  #room: (() => void)[] = [];
  #ended: { readonly error: unknown } | undefined;

  constructor(store: (commits: readonly DayCommit[]) => Promise<CommitOutcome[]>) {
    this.#store = store;
  }

  /**
   * Queues a day. Waits only while too many rows are queued.
   * @param onWritten called when the day is committed or has failed; must not throw.
   */
  async add(commit: DayCommit, onWritten: Waiting['onWritten']): Promise<void> {
    while (this.#waitingRows > WAITING_ROWS_MAX) {
      await new Promise<void>((resolve) => this.#room.push(resolve));
    }
    const rows = commit.unchanged === undefined ? rowCount(commit) : 0;
    this.#waiting.push({ commit, rows, onWritten });
    this.#waitingRows += rows;
    this.#work ??= this.#drain();
  }

  /** Resolves when every queued day is committed or has failed. */
  async whenIdle(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  async #drain(): Promise<void> {
    // Days that are added in the same turn join the first transaction.
    await Promise.resolve();
    for (let group = this.#take(); group.length > 0; group = this.#take()) {
      await this.#write(group);
      this.#makeRoom(group);
    }
    this.#work = undefined;
  }

  #take(): Waiting[] {
    let rows = 0;
    const end = this.#waiting.findIndex((unit, index) => {
      rows += unit.rows;
      return index >= GROUP_UNITS_MAX || (index > 0 && rows > GROUP_ROWS_MAX);
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    // After an error that ends the run, waiting days fail at once. Otherwise each would wait for the same storage.
    if (this.#ended !== undefined) {
      for (const { commit, onWritten } of group) await onWritten({ commit, result: this.#ended });
      return;
    }
    try {
      const outcomes = await this.#store(group.map(({ commit }) => commit));
      for (const [index, { commit, onWritten }] of group.entries()) {
        await onWritten({
          commit,
          result: outcomes[index] ?? { rowsWritten: 0, restated: false, units: [] },
        });
      }
    } catch (error) {
      const [only, ...others] = group;
      const endsRun = error instanceof DaywalkError && error.effect === 'run';
      if (endsRun) this.#ended = { error };
      else if (only !== undefined && others.length > 0) {
        for (const unit of group) await this.#write([unit]);
        return;
      }
      for (const { commit, onWritten } of group) await onWritten({ commit, result: { error } });
    }
  }

  #makeRoom(written: readonly Waiting[]): void {
    this.#waitingRows -= written.reduce((sum, { rows }) => sum + rows, 0);
    const waiting = this.#room;
    this.#room = [];
    for (const resume of waiting) resume();
  }
}
