import { SerialQueue } from '../../core/clock.ts';
import { BusyError, ClaimLostError } from '../../core/errors.ts';
import { readUnitRows } from '../../ledger/index.ts';
import type { LockOptions, RunLock } from '../../port/index.ts';
import { dateOf, type LedgerUnit, type UnitKey, unitName } from '../../units/index.ts';
import type { Link } from './link.ts';
import { runSteps } from './queries.ts';
import type { PostgresSession } from './session.ts';
import { lockKey } from './session.ts';

/**
 * How long to try for the run lock after the connection was lost. The server frees the locks of a lost client within
 * two minutes.
 */
const REGAIN_MS = 150_000;
const REGAIN_PAUSE_MS = 250;

/**
 * The run locks and claims of this process, which are advisory locks of its session. The server frees them when the
 * session ends. A new session holds none of them, so claims of the old one count as lost.
 */
export class Claims {
  readonly #session: PostgresSession;
  /** The generation of the session that took each lock, by the lock's key. */
  readonly #held = new Map<string, number>();
  /**
   * The run locks of this process, true for an exclusive one. They are needed because the server lets one session
   * take a lock twice.
   */
  #runLocks: boolean[] = [];
  /** True once a check has shown that no proxy shares the session. */
  #isOwn = false;

  constructor(session: PostgresSession) {
    this.#session = session;
  }

  /**
   * Takes the run lock. Workers share it; exclusive work excludes workers and other exclusive work.
   * @throws {BusyError} if another holder excludes this one.
   * @throws {UsageError} if a proxy shares the session, so that nothing can be held in it.
   */
  async lock({ exclusive = false }: LockOptions = {}): Promise<RunLock> {
    if (this.#runLocks.some((isAlone) => isAlone || exclusive)) throw this.#busy(exclusive);
    if (!this.#isOwn) await this.#session.expectOwn();
    this.#isOwn = true;
    const begunIn = await this.#takeRunLock(exclusive);
    let heldIn = begunIn;
    this.#runLocks.push(exclusive);
    const inTurn = new SerialQueue();
    return {
      claim: async (units) => {
        // The run lock was lost with its session. Claims that come together take it again once: it is freed once.
        await inTurn.add(async () => {
          if (heldIn !== this.#session.generation) heldIn = await this.#regainRunLock(exclusive);
        });
        return this.#claim(units);
      },
      claimWatch: (orgId) => this.#claimWatch(orgId),
      wasLost: () => this.#session.generation !== begunIn,
      free: (units) => this.#free(units.map((unit) => this.#keyOf(unit))),
      release: async () => {
        await this.#free([...this.#held.keys()]);
        this.#held.clear();
        this.#runLocks.splice(this.#runLocks.indexOf(exclusive), 1);
        if (heldIn === this.#session.generation) await this.#freeRunLock(exclusive);
      },
    };
  }

  /**
   * Makes sure that claims still hold. Units that were never claimed are ignored. A lost claim stays lost until the unit is
   * claimed again: a unit that is freed may still be in work.
   * @throws {ClaimLostError} if a claim was lost with the connection, so that another worker may have taken the unit.
   */
  expectHeld(units: readonly UnitKey[]): void {
    for (const unit of units) {
      const generation = this.#held.get(this.#keyOf(unit));
      if (generation === undefined || generation === this.#session.generation) continue;
      throw new ClaimLostError(
        `the connection to ${this.#session.target.location} was lost while ${unitName(unit)} was pulled`,
        { hint: 'the unit is pulled again' },
      );
    }
  }

  async #claim(units: readonly UnitKey[]): Promise<LedgerUnit[]> {
    if (units.length === 0) return [];
    const own = new Set<string>();
    return this.#session.transaction('claim units in', async (link) => {
      const free = await this.#tryLocks(link, units, own);
      // Read after the locks are taken, so that commits of their last holders are seen.
      return free.length === 0 ? [] : runSteps(link, readUnitRows(free));
    });
  }

  async #claimWatch(orgId: string): Promise<boolean> {
    const key = lockKey(this.#session.target.schema, ['watch', orgId]);
    return this.#session.transaction('claim the watch in', async (link) => {
      const [row] = await link.query('SELECT pg_try_advisory_lock($1::bigint)', [key]);
      if (row?.[0] === 1) this.#held.set(key, this.#session.generation);
      return row?.[0] === 1;
    });
  }

  /**
   * Locks the units that are free. The server lets one session take a lock twice, but a unit that this process pulls is not free.
   * @param own receives the locks of this claim. They outlive its transaction: if that is repeated, they are taken already.
   */
  async #tryLocks(link: Link, units: readonly UnitKey[], own: Set<string>): Promise<UnitKey[]> {
    const { generation } = this.#session;
    const keys = units.map((unit) => this.#keyOf(unit));
    const wanted = keys.filter((key) => this.#held.get(key) !== generation);
    for (const key of wanted) own.delete(key);
    const taken = await link.query(
      'SELECT pg_try_advisory_lock(key) FROM pg_catalog.unnest($1::bigint[]) AS wanted(key)',
      [wanted],
    );
    for (const [index, key] of wanted.entries()) {
      if (taken[index]?.[0] !== 1) continue;
      this.#held.set(key, generation);
      own.add(key);
    }
    return units.filter((_, index) => own.has(keys[index] ?? ''));
  }

  async #free(keys: readonly string[]): Promise<void> {
    const held = keys.filter((key) => this.#held.get(key) === this.#session.generation);
    for (const key of held) this.#held.delete(key);
    if (held.length === 0) return;
    await this.#session.transaction('free units in', (link) =>
      link.query('SELECT pg_advisory_unlock(key) FROM pg_catalog.unnest($1::bigint[]) AS held(key)', [held]),
    );
  }

  /** Takes the run lock again. The old session of this process may hold it until the server ends that session. */
  async #regainRunLock(exclusive: boolean): Promise<number> {
    const { clock, warn } = this.#session;
    const since = clock.monotonicMs();
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#takeRunLock(exclusive);
      } catch (error) {
        const isOver = this.#session.isStopped || clock.monotonicMs() - since >= REGAIN_MS;
        if (isOver || !(error instanceof BusyError)) throw error;
        if (tries === 1)
          warn('the connection was lost with the lock', `waiting up to ${REGAIN_MS / 1000} seconds for it`);
      }
      await clock.sleep(REGAIN_PAUSE_MS);
    }
  }

  /** Returns the generation of the session that holds it. */
  async #takeRunLock(exclusive: boolean): Promise<number> {
    const take = exclusive ? 'pg_try_advisory_lock' : 'pg_try_advisory_lock_shared';
    const generation = await this.#session.transaction('lock', async (link) => {
      const [row] = await link.query(`SELECT ${take}($1::bigint)`, [this.#runKey]);
      return row?.[0] === 1 ? this.#session.generation : undefined;
    });
    if (generation === undefined) throw this.#busy(exclusive);
    return generation;
  }

  async #freeRunLock(exclusive: boolean): Promise<void> {
    const free = exclusive ? 'pg_advisory_unlock' : 'pg_advisory_unlock_shared';
    await this.#session.transaction('unlock', (link) =>
      link.query(`SELECT ${free}($1::bigint)`, [this.#runKey]),
    );
  }

  #busy(exclusive: boolean): BusyError {
    return new BusyError(`another process works on the warehouse ${this.#session.target.location}`, {
      ...(exclusive
        ? { hint: 'wait for the runs on it to end' }
        : {
            hint: 'it copies or replaces the whole warehouse; wait for it to end',
            reason: 'warehouse-replaced-by-other',
          }),
    });
  }

  get #runKey(): string {
    return runKeyOf(this.#session.target);
  }

  #keyOf(unit: UnitKey): string {
    return lockKey(this.#session.target.schema, ['unit', unit.orgId, unit.stream, dateOf(unit)]);
  }
}

function runKeyOf({ schema }: { readonly schema: string }): string {
  return lockKey(schema, ['run']);
}

/** See `Warehouse.isLocked`. Takes the run lock until the transaction ends. A standby has locks of its own. */
export async function isRunLocked(link: Link): Promise<boolean> {
  const [row] = await link.query(
    'SELECT pg_is_in_recovery() OR NOT pg_try_advisory_xact_lock($1::bigint) AS locked',
    [runKeyOf(link)],
  );
  return row?.[0] === 1;
}
