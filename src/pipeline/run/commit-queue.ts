import type { Archive, ArchivedDay, KeptRows, RowsText } from '../../core/archive-port.ts';
import { DaywalkError } from '../../core/errors.ts';
import type { DailyStream } from '../../core/stream.ts';
import type { Warehouse } from '../../port/index.ts';
import { type CommitOutcome, type DayCommit, type LedgerDay, rowCount } from '../../units/index.ts';

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

/** The place of a batch in the order of commits, see {@link CommitQueue.begin}. */
export interface Turn {
  readonly number: number;
  /** No more days of the batch will be added. May be repeated. */
  end(): void;
}

interface Waiting {
  readonly commit: DayCommit;
  readonly rows: number;
  readonly turn: number;
  readonly onWritten: (written: Written) => Promise<void> | void;
}

/**
 * Commits days, one transaction after the other, while the next ones are pulled. Small days that wait together share a
 * transaction. If it fails because of one of them, they are committed one by one.
 *
 * The days of a stream are committed in the order in which their batches began, although their answers come in another
 * one. So rows arrive in the order of their keys, and PostgreSQL fills each page of an index: it would otherwise split them
 * in half, which makes the indexes twice as large.
 */
export class CommitQueue {
  readonly #store: (commits: readonly DayCommit[]) => Promise<CommitOutcome[]>;
  #waiting: Waiting[] = [];
  #turns = 0;
  /** The numbers of the batches that are under way, by stream. */
  readonly #underWay = new Map<string, Set<number>>();
  #waitingRows = 0;
  #work: Promise<void> | undefined;
  #room: (() => void)[] = [];
  #ended: { readonly error: unknown } | undefined;

  constructor(store: (commits: readonly DayCommit[]) => Promise<CommitOutcome[]>) {
    this.#store = store;
  }

  /**
   * Takes a place in the order of commits. Days of batches of the stream that begin later wait until this one ends, unless too
   * many rows are queued. Begin a batch only once nothing can keep it from being pulled.
   */
  begin(stream: DailyStream): Turn {
    const number = this.#nextTurn();
    const numbers = this.#underWay.get(stream) ?? new Set();
    this.#underWay.set(stream, numbers.add(number));
    const end = () => {
      if (numbers.delete(number) && this.#waiting.length > 0) this.#work ??= this.#drain();
    };
    return { number, end };
  }

  /**
   * Queues a day. Waits only while too many rows are queued.
   * @param onWritten called when the day is committed or has failed; must not throw.
   * @param turn the place of its batch. @default after all batches that have begun
   */
  async add(
    commit: DayCommit,
    onWritten: Waiting['onWritten'],
    turn = { number: this.#nextTurn() },
  ): Promise<void> {
    while (this.#waitingRows > WAITING_ROWS_MAX) {
      await new Promise<void>((resolve) => this.#room.push(resolve));
    }
    const rows = commit.unchanged === undefined ? rowCount(commit) : 0;
    this.#waiting.push({ commit, rows, turn: turn.number, onWritten });
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

  #nextTurn(): number {
    this.#turns += 1;
    return this.#turns;
  }

  /** The days that come next. They are removed from the queue. */
  #take(): Waiting[] {
    const isFull = this.#waitingRows > WAITING_ROWS_MAX;
    const due = this.#waiting.filter((unit) => isFull || this.#isNext(unit));
    due.sort((a, b) => a.turn - b.turn);
    let rows = 0;
    const end = due.findIndex((unit, index) => {
      rows += unit.rows;
      return index >= GROUP_UNITS_MAX || (index > 0 && rows > GROUP_ROWS_MAX);
    });
    const group = end < 0 ? due : due.slice(0, end);
    const taken = new Set(group);
    this.#waiting = this.#waiting.filter((unit) => !taken.has(unit));
    return group;
  }

  /** True if no batch of the stream that began earlier is under way. */
  #isNext({ commit, turn }: Waiting): boolean {
    const [oldest = turn] = this.#underWay.get(commit.stream) ?? [];
    return oldest >= turn;
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

const NO_ROWS: KeptRows = { object: null, count: 0 };

/** A commit with its rows as they were received. */
interface SentDay {
  readonly commit: DayCommit;
  readonly texts: readonly RowsText[];
}

/**
 * Commits days, each after its answer is kept in the archive. So the archive has every stored answer, also after a kill; what
 * a kill keeps it from noting, the next run finds out. Without an archive, it only commits.
 */
export class ArchivedCommits {
  readonly #archive: Archive | undefined;
  readonly #warehouse: Pick<Warehouse, 'commitDays'>;
  readonly #rows = new WeakMap<DayCommit, Promise<KeptRows> | null>();
  /** The names of answers that are noted and not committed yet. */
  readonly #noted = new WeakMap<DayCommit, Promise<readonly string[]>>();

  constructor(archive: Archive | undefined, warehouse: Pick<Warehouse, 'commitDays'>) {
    this.#archive = archive;
    this.#warehouse = warehouse;
  }

  /** True if the archive does not have the rows of a stored day, so that an unchanged answer must be kept too. */
  needs(unit: LedgerDay & { readonly contentSha256: string }): boolean {
    return this.#archive !== undefined && !this.#archive.holds(unit, unit.contentSha256);
  }

  /**
   * Begins to keep and to note the rows of a day, while earlier days are committed and later ones are pulled; {@link store}
   * waits for it and throws its error. A day that is stored without it has no rows.
   */
  keep({ commit, texts }: SentDay): void {
    const archive = this.#archive;
    if (archive === undefined) return;
    const isKept = commit.unchanged !== undefined && texts.length === 0;
    this.#rows.set(commit, isKept ? null : archive.keepRows(texts));
    this.#note(archive, commit).catch(() => undefined);
  }

  /** Keeps an answer that is not believed. */
  async keepDoubted({ commit, texts }: SentDay): Promise<void> {
    if (this.#archive === undefined) return;
    const rows = await this.#archive.keepRows(texts);
    const names = await this.#archive.beginDays([entryOf(commit, rows, 'doubted')]);
    await this.#archive.end(names, 'dropped');
  }

  /** Commits days of one organization in one transaction. */
  async store(commits: readonly DayCommit[]): Promise<CommitOutcome[]> {
    const archive = this.#archive;
    if (archive === undefined) return this.#warehouse.commitDays(commits);
    const noted = commits.map((commit) => this.#noted.get(commit) ?? this.#note(archive, commit));
    const names = (await Promise.all(noted)).flat();
    // Days whose commit fails may be stored again, one by one.
    for (const commit of commits) this.#noted.delete(commit);
    const outcomes = await this.#warehouse.commitDays(commits).catch(async (error: unknown) => {
      // After an error of the storage, only the ledger knows whether the commit took place.
      if (error instanceof DaywalkError && error.effect !== 'run') await archive.end(names, 'dropped');
      throw error;
    });
    await archive.end(names, 'committed');
    return outcomes;
  }

  #note(archive: Archive, commit: DayCommit): Promise<readonly string[]> {
    const note = async () => {
      const kept = await this.#rows.get(commit);
      return archive.beginDays([entryOf(commit, kept === undefined ? NO_ROWS : kept, 'believed')]);
    };
    const noted = note();
    this.#noted.set(commit, noted);
    return noted;
  }
}

function entryOf(commit: DayCommit, rows: KeptRows | null, verdict: ArchivedDay['verdict']): ArchivedDay {
  const { orgId, stream, day, runId, pulledAt, contentSha256, isOwn, requests, rule } = commit;
  const { today, settleDays } = rule;
  return {
    ...{ orgId, stream, day, runId, pulledAt, verdict, rows, contentSha256, isOwn, requests },
    ...{ today, settleDays },
  };
}
