import { DaywalkError } from '../../../core/errors.ts';
import { type CommitOutcome, type DayCommit, rowCount } from '../../../warehouse/port.ts';

/** Rows of one transaction at most, unless a single day has more. */
const GROUP_ROWS_MAX = 4_000;
const GROUP_UNITS_MAX = 64;
/** Rows that wait to be written at most; who brings more waits too. */
const WAITING_ROWS_MAX = 8_000;

/** What became of a unit that was handed in. */
export interface Written {
  readonly commit: DayCommit;
  /** What the commit did, or the error for which nothing of the unit was stored. */
  readonly result: CommitOutcome | { readonly error: unknown };
}

interface Waiting {
  readonly commit: DayCommit;
  readonly rows: number;
  readonly told: (written: Written) => Promise<void> | void;
}

/**
 * Writes days one transaction after the other while the next ones are pulled. Small days that wait together are
 * committed together, each whole; should the group fail for the sake of one, they are committed one by one.
 */
export class Writer {
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
   * Hands a day in, and waits only while too much waits to be written. `told` hears what became of it, and must not
   * throw.
   */
  async add(commit: DayCommit, told: Waiting['told']): Promise<void> {
    while (this.#waitingRows > WAITING_ROWS_MAX) {
      await new Promise<void>((resolve) => this.#room.push(resolve));
    }
    const rows = commit.unchanged === undefined ? rowCount(commit) : 0;
    this.#waiting.push({ commit, rows, told });
    this.#waitingRows += rows;
    this.#work ??= this.#drain();
  }

  /** Waits until all that was handed in is written. */
  async idle(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  async #drain(): Promise<void> {
    // What comes in during this turn goes along.
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
    // What ended the run ends it for what still waits, too: each would wait for the same storage again.
    if (this.#ended !== undefined) {
      for (const { commit, told } of group) await told({ commit, result: this.#ended });
      return;
    }
    try {
      const outcomes = await this.#store(group.map(({ commit }) => commit));
      for (const [index, { commit, told }] of group.entries()) {
        await told({ commit, result: outcomes[index] ?? { rowsWritten: 0, restated: false, units: [] } });
      }
    } catch (error) {
      const [only, ...others] = group;
      const endsRun = error instanceof DaywalkError && error.effect === 'run';
      if (endsRun) this.#ended = { error };
      else if (only !== undefined && others.length > 0) {
        for (const unit of group) await this.#write([unit]);
        return;
      }
      for (const { commit, told } of group) await told({ commit, result: { error } });
    }
  }

  #makeRoom(written: readonly Waiting[]): void {
    this.#waitingRows -= written.reduce((sum, { rows }) => sum + rows, 0);
    const waiting = this.#room;
    this.#room = [];
    for (const resume of waiting) resume();
  }
}
