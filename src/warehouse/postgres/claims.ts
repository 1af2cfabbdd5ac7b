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
    await this.#takeRunLock(exclusive);
    this.#runLocks.push(exclusive);
    let generation = this.#session.generation;
    return {
      claim: async (units) => {
        // The run lock was lost with its session.
        if (generation !== this.#session.generation) {
          await this.#regainRunLock(exclusive);
          generation = this.#session.generation;
        }
        return this.#claim(units);
      },
      claimWatch: (orgId) => this.#claimWatch(orgId),
      free: (units) => this.#free(units.map((unit) => this.#keyOf(unit))),
      release: async () => {
        await this.#free([...this.#held.keys()]);
        this.#runLocks.splice(this.#runLocks.indexOf(exclusive), 1);
        await this.#session.transaction('unlock', (link) =>
          link.query(`SELECT ${exclusive ? 'pg_advisory_unlock' : 'pg_advisory_unlock_shared'}($1::bigint)`, [
            this.#runKey,
          ]),
        );
      },
    };
  }

  /**
   * Makes sure that claims still hold. Units that were never claimed are ignored. A lost claim stays lost until the unit is
   * freed or claimed again.
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
    return this.#session.transaction('claim units in', async (link) => {
      const free = await this.#tryLocks(link, units);
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

  async #tryLocks(link: Link, units: readonly UnitKey[]): Promise<UnitKey[]> {
    const generation = this.#session.generation;
    // The server lets one session take a lock twice, but a unit that this process pulls is not free.
    const open = units.filter((unit) => this.#held.get(this.#keyOf(unit)) !== generation);
    const keys = open.map((unit) => this.#keyOf(unit));
    const taken = await link.query(
      'SELECT pg_try_advisory_lock(key) FROM pg_catalog.unnest($1::bigint[]) AS wanted(key)',
      [keys],
    );
    const free = open.filter((_, index) => taken[index]?.[0] === 1);
    for (const unit of free) this.#held.set(this.#keyOf(unit), generation);
    return free;
  }

  async #free(keys: readonly string[]): Promise<void> {
    const held = keys.filter((key) => this.#held.get(key) === this.#session.generation);
    for (const key of keys) this.#held.delete(key);
    if (held.length === 0) return;
    await this.#session.transaction('free units in', (link) =>
      link.query('SELECT pg_advisory_unlock(key) FROM pg_catalog.unnest($1::bigint[]) AS held(key)', [held]),
    );
  }

  /** Takes the run lock again. The old session of this process may hold it until the server ends that session. */
  async #regainRunLock(exclusive: boolean): Promise<void> {
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

  async #takeRunLock(exclusive: boolean): Promise<void> {
    const take = exclusive ? 'pg_try_advisory_lock' : 'pg_try_advisory_lock_shared';
    const [row] = await this.#session.transaction('lock', (link) =>
      link.query(`SELECT ${take}($1::bigint)`, [this.#runKey]),
    );
    if (row?.[0] === 1) return;
    throw this.#busy(exclusive);
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
