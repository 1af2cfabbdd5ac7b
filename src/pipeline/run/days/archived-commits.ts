import type { Archive, ArchivedDay, KeptRows, RowsText } from '../../../core/archive-port.ts';
import { DaywalkError } from '../../../core/errors.ts';
import type { CommitOutcome, DayCommit, LedgerDay, Warehouse } from '../../../warehouse/port.ts';

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
