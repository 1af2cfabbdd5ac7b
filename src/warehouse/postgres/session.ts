import type { Clock } from '../../core/clock.ts';
import { DaywalkError, UsageError } from '../../core/errors.ts';
import { isLost, isRepeatable, POOLED, sqlState, storageError } from './errors.ts';
import { Link } from './link.ts';
import type { PostgresTarget } from './target.ts';

/** How long a server that went away is waited for. */
const RECONNECT_WAIT_MS = 30_000;
/** The same once the process was asked to stop. */
const RECONNECT_WAIT_STOPPED_MS = 1_000;
const RECONNECT_PAUSE_MS = 200;
/** How often a transaction is begun again. */
const ATTEMPTS_MAX = 6;

/** How to open a session. */
export interface SessionOptions {
  readonly clock: Clock;
  /** Aborted when the process was asked to stop; cuts the wait for a server short. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The connection through which everything is claimed and written: one transaction at a time. It connects again when
 * the server ended it; what a session holds, such as advisory locks, is gone then, and {@link Session.generation} tells.
 */
export class Session {
  readonly target: PostgresTarget;
  readonly #clock: Clock;
  #link: Link;
  #generation = 1;
  #isClosed = false;
  #stoppedAtMs = Number.POSITIVE_INFINITY;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(target: PostgresTarget, link: Link, { clock, signal }: SessionOptions) {
    this.target = target;
    this.#link = link;
    this.#clock = clock;
    signal?.addEventListener('abort', () => {
      this.#stoppedAtMs = clock.monotonicMs();
    });
  }

  static async open(target: PostgresTarget, options: SessionOptions): Promise<Session> {
    try {
      return new Session(target, await Link.connect(target), options);
    } catch (error) {
      throw storageError(error, 'open the warehouse', target.location);
    }
  }

  /** Counts connections: what was claimed in another generation is not held any more. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Runs `work` in one transaction, after those that were asked for before. When the connection is lost before the
   * commit it is begun again on a new one, so `work` must take all it knows from the database; when the answer to the
   * commit is lost, the server is asked what became of it.
   */
  transaction<Result>(doing: string, work: (link: Link) => Promise<Result>): Promise<Result> {
    const result = this.#last.then(() => this.#transact(doing, work));
    // The next one waits for this one, however it ends; its failure is told to its own caller.
    this.#last = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    await this.#last;
    this.#isClosed = true;
    await this.#link.close();
  }

  async #transact<Result>(doing: string, work: (link: Link) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(work);
      } catch (error) {
        const again = (isLost(error) || isRepeatable(error)) && attempt < ATTEMPTS_MAX;
        if (!again) throw storageError(error, doing, this.target.location);
      }
    }
  }

  async #attempt<Result>(work: (link: Link) => Promise<Result>): Promise<Result> {
    const link = await this.#connected();
    let transactionId: string;
    let result: Result;
    try {
      transactionId = await begin(link);
      result = await work(link);
    } catch (error) {
      if (!link.isLost) await link.script('ROLLBACK').catch(() => undefined);
      throw error;
    }
    try {
      await link.script('COMMIT');
    } catch (error) {
      if (!isLost(error) || !(await this.#wasCommitted(transactionId))) throw error;
    }
    return result;
  }

  async #wasCommitted(transactionId: string): Promise<boolean> {
    for (;;) {
      const link = await this.#connected();
      try {
        const [row] = await link.query('SELECT pg_xact_status($1::text::xid8)', [transactionId]);
        // The backend of the lost connection may be about to finish.
        if (row?.[0] !== 'in progress') return row?.[0] === 'committed';
      } catch (error) {
        if (!isLost(error)) throw error;
      }
      await this.#clock.sleep(RECONNECT_PAUSE_MS);
    }
  }

  /** The connection; a new one where it is lost. */
  async #connected(): Promise<Link> {
    if (this.#isClosed) throw new TypeError(`the warehouse ${this.target.location} is closed`);
    if (!this.#link.isLost) return this.#link;
    const since = this.#clock.monotonicMs();
    for (;;) {
      try {
        this.#link = await Link.connect(this.target);
        this.#generation += 1;
        return this.#link;
      } catch (error) {
        const nowMs = this.#clock.monotonicMs();
        const isOver =
          nowMs - since >= RECONNECT_WAIT_MS || nowMs - this.#stoppedAtMs >= RECONNECT_WAIT_STOPPED_MS;
        const isRefusal = error instanceof DaywalkError || /^(28|3D)/.test(sqlState(error) ?? '');
        if (isOver || isRefusal) throw storageError(error, 'connect again to', this.target.location);
      }
      await this.#clock.sleep(RECONNECT_PAUSE_MS);
    }
  }
}

/**
 * Begins a transaction and tells its id.
 * @throws {UsageError} when another backend serves it than the one that this connection was made with.
 */
async function begin(link: Link): Promise<string> {
  link.staged.clear();
  const [row] = await link.script('BEGIN; SELECT pg_current_xact_id(), pg_backend_pid()');
  const [transactionId, pid] = row ?? [];
  if (pid !== link.backendPid) {
    throw new UsageError(
      'a proxy hands each transaction to another backend, and claims would be lost there',
      {
        hint: POOLED,
      },
    );
  }
  return String(transactionId);
}
