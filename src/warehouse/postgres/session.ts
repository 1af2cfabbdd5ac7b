import { createHash } from 'node:crypto';
import { type Clock, onAbort, SerialQueue } from '../../core/clock.ts';
import { DaywalkError, StorageError } from '../../core/errors.ts';
import { isConflict, isLost, isLostBehind, sharedSession, sqlState, storageError } from './errors.ts';
import { Link } from './link.ts';
import { type Patience, Repetition } from './repetition.ts';
import type { PostgresTarget } from './target.ts';

/** The pause between two queries for the outcome of a transaction. */
const STATUS_PAUSE_MS = 200;
/** How long the first connection may take, and each statement that sets it up. */
const CONNECT_MS = 15_000;
/** How long to wait for the second connection that shows whether sessions are separate. */
const SECOND_CONNECTION_MS = 5_000;

type Isolation = 'READ COMMITTED' | 'REPEATABLE READ';

export interface PostgresSessionOptions {
  readonly clock: Clock;
  /** Aborted when the process must stop; this shortens the wait for a server. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the session has to wait, with the limit of the wait. */
  readonly warn?: ((message: string, hint: string) => void) | undefined;
}

/**
 * The connection for all claims and writes, one transaction at a time. It reconnects after the server ended it. What
 * the old session held, such as advisory locks, is then lost, and {@link Session.generation} has changed. If another server
 * has taken over, the session ends: what it committed may be lost there.
 */
export class PostgresSession {
  readonly target: PostgresTarget;
  readonly clock: Clock;
  readonly warn: (message: string, hint: string) => void;
  #link: Link;
  #generation = 1;
  /** See {@link historyOf}. */
  readonly #history: string | undefined;
  #replaced: StorageError | undefined;
  #isClosed = false;
  #stoppedAtMs = Number.POSITIVE_INFINITY;
  readonly #queue = new SerialQueue();
  readonly #unlisten: () => void;

  private constructor(
    target: PostgresTarget,
    { link, history }: Connected,
    { clock, signal, warn }: PostgresSessionOptions,
  ) {
    this.target = target;
    this.#link = link;
    this.#history = history;
    this.clock = clock;
    this.warn = warn ?? (() => undefined);
    this.#unlisten = onAbort(signal, () => {
      this.#stoppedAtMs = clock.monotonicMs();
    });
  }

  static async open(target: PostgresTarget, options: PostgresSessionOptions): Promise<PostgresSession> {
    try {
      return new PostgresSession(target, await connect(target), options);
    } catch (error) {
      throw storageError(error, 'open the warehouse', target.location);
    }
  }

  /** Counts connections. Claims of an earlier generation are lost. */
  get generation(): number {
    return this.#generation;
  }

  /** True once the process must stop. */
  get isStopped(): boolean {
    return Number.isFinite(this.#stoppedAtMs);
  }

  /**
   * Runs `work` in one transaction, in the order of the calls. If the connection is lost before the commit, the
   * transaction begins again on a new one, so `work` must read everything from the database. If the answer to the
   * commit is lost, the session asks the server for the outcome. A server that has crashed meanwhile may not know it, so the
   * transaction begins again, although it may have been committed: `work` finds that in what it reads. {@link Repetition}
   * limits all repetitions of a transaction together.
   */
  transaction<Result>(doing: string, work: (link: Link) => Promise<Result>): Promise<Result> {
    return this.#queue.add(() => this.#transact(doing, work, 'READ COMMITTED'));
  }

  /** As {@link transaction}, but all statements see the same state of the database. */
  repeatableRead<Result>(doing: string, work: (link: Link) => Promise<Result>): Promise<Result> {
    return this.#queue.add(() => this.#transact(doing, work, 'REPEATABLE READ'));
  }

  /** How long a read of another connection waits for a lost server. */
  patience(): Patience {
    return new Repetition(this.clock, () => this.#stoppedAtMs);
  }

  /**
   * Makes sure that no other client shares this session, before anything is claimed in it: a second connection sets
   * up a session, which must not change this one. If the server allows no second connection, the check proves nothing.
   * @throws {UsageError} if a proxy serves both with one session.
   */
  async expectOwn(): Promise<void> {
    const second = await Link.connect(this.target, SECOND_CONNECTION_MS).catch(() => undefined);
    try {
      await this.transaction('check the session of', async () => undefined);
    } finally {
      await second?.close();
    }
  }

  async close(): Promise<void> {
    await this.#queue.idle();
    this.#isClosed = true;
    this.#unlisten();
    await this.#link.close();
  }

  async #transact<Result>(
    doing: string,
    work: (link: Link) => Promise<Result>,
    isolation: Isolation,
  ): Promise<Result> {
    const repetition = new Repetition(this.clock, () => this.#stoppedAtMs);
    for (;;) {
      const generation = this.#generation;
      try {
        return await this.#attempt(work, repetition, isolation);
      } catch (error) {
        const isAgain =
          (isConflict(error) && repetition.mayFollowConflict()) ||
          (this.#isPassing(error, generation) && (await repetition.mayFollowLoss()));
        if (!isAgain) throw storageError(error, doing, this.target.location);
      }
    }
  }

  async #attempt<Result>(
    work: (link: Link) => Promise<Result>,
    repetition: Repetition,
    isolation: Isolation,
  ): Promise<Result> {
    const link = await this.#connected(repetition);
    let begun: Begun;
    let result: Result;
    try {
      begun = await begin(link, isolation, this.#history === undefined ? 'NULL' : LAST_CHECKPOINT);
      result = await work(link);
    } catch (error) {
      if (!link.isLost) await link.script('ROLLBACK').catch(() => undefined);
      throw error;
    }
    try {
      await link.script('COMMIT');
    } catch (error) {
      if (!isLost(error) || !(await this.#wasCommitted(begun, repetition, error))) throw error;
    }
    return result;
  }

  /** True if the transaction, which failed in this generation, may succeed after a pause. */
  #isPassing(error: unknown, generation: number): boolean {
    // A failure on a working connection is a defect of this program or a refusal.
    const isGone = this.#link.isLost || this.#generation !== generation;
    return (isLost(error) && isGone) || isLostBehind(error);
  }

  /**
   * True if the transaction is known to be committed. A server that has crashed gives IDs again that it lost, so it is asked only
   * if it has made no checkpoint since, with which every recovery from a crash ends.
   * @throws `lost` if the server does not answer in time.
   */
  async #wasCommitted({ id, checkpoint }: Begun, repetition: Repetition, lost: unknown): Promise<boolean> {
    if (checkpoint === null) return false;
    repetition.begin();
    for (;;) {
      const link = await this.#connected(repetition);
      try {
        const [row] = await link.query(
          `SELECT CASE WHEN ${LAST_CHECKPOINT} = $2::pg_lsn THEN pg_xact_status($1::text::xid8) END`,
          [id, checkpoint],
        );
        // The backend of the lost connection may still be committing.
        if (row?.[0] !== 'in progress') return row?.[0] === 'committed';
      } catch (error) {
        if (!isLost(error)) throw error;
      }
      if (repetition.isOver()) throw storageError(lost, 'commit to', this.target.location);
      await this.clock.sleep(STATUS_PAUSE_MS);
    }
  }

  /** The connection; a new one if it is lost. */
  async #connected(repetition: Repetition): Promise<Link> {
    if (this.#isClosed) throw new TypeError(`the warehouse ${this.target.location} is closed`);
    if (this.#replaced !== undefined) throw this.#replaced;
    if (!this.#link.isLost) return this.#link;
    // The server may still serve the old connection, whose locks would block the new one.
    this.#link.abandon();
    repetition.begin();
    for (;;) {
      try {
        const { link, history } = await connect(this.target, repetition.remainingMs());
        this.#link = link;
        this.#generation += 1;
        if (history === this.#history) return link;
        this.#replaced = replacedError(this.target.location);
        throw this.#replaced;
      } catch (error) {
        const isRefusal = error instanceof DaywalkError || /^(28|3D)/.test(sqlState(error) ?? '');
        if (isRefusal || !(await repetition.mayFollowLoss()))
          throw storageError(error, 'connect again to', this.target.location);
      }
    }
  }
}

interface Connected {
  readonly link: Link;
  /** See {@link historyOf}. */
  readonly history: string | undefined;
}

async function connect(target: PostgresTarget, withinMs = CONNECT_MS): Promise<Connected> {
  const link = await Link.connect(target, withinMs);
  try {
    link.limitStatements(withinMs);
    const history = await historyOf(link);
    link.limitStatements(undefined);
    return { link, history };
  } catch (error) {
    link.abandon();
    throw error;
  }
}

/** The place in the log of the last checkpoint, as an expression. */
const LAST_CHECKPOINT = '(SELECT checkpoint_lsn FROM pg_control_checkpoint())';

/**
 * Names the server and its timeline, which changes when a standby is promoted or a backup is restored. The promoted server
 * may lack what the former one committed, and use the IDs of its transactions again. Undefined if the server does not say, or
 * keeps its last checkpoint secret.
 */
async function historyOf(link: Link): Promise<string | undefined> {
  const [row] = await link
    .records(
      `SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS history
       FROM pg_control_system() WHERE NOT pg_is_in_recovery() AND ${LAST_CHECKPOINT} IS NOT NULL`,
      [],
    )
    .catch((error: unknown) => {
      if (isLost(error)) throw error;
      return [];
    });
  return row === undefined ? undefined : String(row['history']);
}

function replacedError(location: string): StorageError {
  return new StorageError(
    `another server has taken over the warehouse ${location}; what was just committed may be lost`,
    { hint: 'run the command again: it resumes from what this server has' },
  );
}

/** A transaction by which a session can ask for the outcome. */
interface Begun {
  readonly id: string;
  /** The last checkpoint of the server when the transaction began; null if it does not say. */
  readonly checkpoint: string | null;
}

/**
 * Begins a transaction.
 * @param checkpoint an expression for {@link Begun.checkpoint}.
 * @throws {UsageError} if it runs in another session than the one that this connection set up.
 */
async function begin(link: Link, isolation: Isolation, checkpoint: string): Promise<Begun> {
  link.staged.clear();
  const [row] = await link.script(
    `BEGIN ISOLATION LEVEL ${isolation};
     SELECT pg_current_xact_id(), current_setting('daywalk.session', true), ${checkpoint}::text`,
  );
  const [id, mark, last] = row ?? [];
  if (mark !== link.mark) throw sharedSession();
  return { id: String(id), checkpoint: typeof last === 'string' ? last : null };
}

/**
 * The key of an advisory lock, as decimal text of a signed 64-bit number. These locks share one namespace per
 * database, so the key includes the schema and a name of this program. 64 bits of SHA-256 do not collide by chance.
 */
export function lockKey(schema: string, parts: readonly string[]): string {
  const text = JSON.stringify(['daywalk', schema, ...parts]);
  return createHash('sha256').update(text).digest().readBigInt64BE(0).toString();
}
