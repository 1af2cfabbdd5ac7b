import type { Clock } from '../../core/clock.ts';
import { DaywalkError, UsageError } from '../../core/errors.ts';
import { SerialQueue } from '../../core/serial-queue.ts';
import { isConflict, isLost, isLostBehind, POOLED, sqlState, storageError } from './errors.ts';
import { Link } from './link.ts';
import { Repetition } from './repetition.ts';
import type { PostgresTarget } from './target.ts';

/** How often the server is asked what became of a transaction. */
const STATUS_PAUSE_MS = 200;
/** How long a second connection is waited for that shows whether sessions are kept apart. */
const SECOND_CONNECTION_MS = 5_000;

/** How to open a session. */
export interface SessionOptions {
  readonly clock: Clock;
  /** Aborted when the process was asked to stop; cuts the wait for a server short. */
  readonly signal?: AbortSignal | undefined;
  /** Told what the session waits for, with what comes of it. */
  readonly warn?: ((message: string, hint: string) => void) | undefined;
}

/**
 * The connection through which everything is claimed and written: one transaction at a time. It connects again when
 * the server ended it; what a session holds, such as advisory locks, is gone then, and {@link Session.generation} tells.
 */
export class Session {
  readonly target: PostgresTarget;
  readonly clock: Clock;
  readonly warn: (message: string, hint: string) => void;
  #link: Link;
  #generation = 1;
  #isClosed = false;
  #stoppedAtMs = Number.POSITIVE_INFINITY;
  readonly #queue = new SerialQueue();

  private constructor(target: PostgresTarget, link: Link, { clock, signal, warn }: SessionOptions) {
    this.target = target;
    this.#link = link;
    this.clock = clock;
    this.warn = warn ?? (() => undefined);
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

  /** True once the process was asked to stop. */
  get isStopped(): boolean {
    return Number.isFinite(this.#stoppedAtMs);
  }

  /**
   * Runs `work` in one transaction, after those that were asked for before. When the connection is lost before the
   * commit it is begun again on a new one, so `work` must take all it knows from the database; when the answer to the
   * commit is lost, the server is asked what became of it. A server that stays away is waited for as {@link Repetition}
   * says, all repetitions of a transaction together.
   */
  transaction<Result>(doing: string, work: (link: Link) => Promise<Result>): Promise<Result> {
    return this.#queue.add(() => this.#transact(doing, work));
  }

  /**
   * Makes sure that this session is nobody else's, before anything is claimed in it: a second connection sets a session
   * up, and must not have changed this one. Nothing is known of a server that has no second connection to give.
   * @throws {UsageError} when a proxy serves both with one session.
   */
  async expectOwn(): Promise<void> {
    const second = await Link.connect(this.target, SECOND_CONNECTION_MS).catch(() => undefined);
    try {
      await this.transaction('look at the session of', async () => undefined);
    } finally {
      await second?.close();
    }
  }

  async close(): Promise<void> {
    await this.#queue.idle();
    this.#isClosed = true;
    await this.#link.close();
  }

  async #transact<Result>(doing: string, work: (link: Link) => Promise<Result>): Promise<Result> {
    const repetition = new Repetition(this.clock, () => this.#stoppedAtMs);
    for (;;) {
      const generation = this.#generation;
      try {
        return await this.#attempt(work, repetition);
      } catch (error) {
        const isAgain =
          (isConflict(error) && repetition.mayFollowConflict()) ||
          (this.#isPassing(error, generation) && (await repetition.mayFollowLoss()));
        if (!isAgain) throw storageError(error, doing, this.target.location);
      }
    }
  }

  async #attempt<Result>(work: (link: Link) => Promise<Result>, repetition: Repetition): Promise<Result> {
    const link = await this.#connected(repetition);
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
      if (!isLost(error) || !(await this.#wasCommitted(transactionId, repetition, error))) throw error;
    }
    return result;
  }

  /** True when the same transaction, which failed in this generation, may succeed after a pause. */
  #isPassing(error: unknown, generation: number): boolean {
    // What fails while the connection holds is a defect of ours, or a refusal.
    const isGone = this.#link.isLost || this.#generation !== generation;
    return (isLost(error) && isGone) || isLostBehind(error);
  }

  /** @throws `lost` where the server does not say in time. */
  async #wasCommitted(transactionId: string, repetition: Repetition, lost: unknown): Promise<boolean> {
    repetition.begin();
    for (;;) {
      const link = await this.#connected(repetition);
      try {
        const [row] = await link.query('SELECT pg_xact_status($1::text::xid8)', [transactionId]);
        // The backend of the lost connection may be about to finish.
        if (row?.[0] !== 'in progress') return row?.[0] === 'committed';
      } catch (error) {
        if (!isLost(error)) throw error;
      }
      if (repetition.isOver()) throw storageError(lost, 'commit to', this.target.location);
      await this.clock.sleep(STATUS_PAUSE_MS);
    }
  }

  /** The connection; a new one where it is lost. */
  async #connected(repetition: Repetition): Promise<Link> {
    if (this.#isClosed) throw new TypeError(`the warehouse ${this.target.location} is closed`);
    if (!this.#link.isLost) return this.#link;
    // The server may serve it still, and would keep what it holds from the one that takes its place.
    this.#link.abandon();
    repetition.begin();
    for (;;) {
      try {
        this.#link = await Link.connect(this.target, repetition.remainingMs());
        this.#generation += 1;
        return this.#link;
      } catch (error) {
        const isRefusal = error instanceof DaywalkError || /^(28|3D)/.test(sqlState(error) ?? '');
        if (isRefusal || !(await repetition.mayFollowLoss()))
          throw storageError(error, 'connect again to', this.target.location);
      }
    }
  }
}

/**
 * Begins a transaction and tells its id.
 * @throws {UsageError} when it is of another session than the one that this connection set up.
 */
async function begin(link: Link): Promise<string> {
  link.staged.clear();
  const [row] = await link.script(
    "BEGIN; SELECT pg_current_xact_id(), current_setting('daywalk.session', true)",
  );
  const [transactionId, mark] = row ?? [];
  if (mark !== link.mark) {
    throw new UsageError('a proxy shares sessions among its clients, and claims would be lost there', {
      hint: POOLED,
    });
  }
  return String(transactionId);
}
