import { BusyError, ClaimLostError } from '../../core/errors.ts';
import { keyValues } from '../ledger-rows.ts';
import { type LedgerUnit, type LockOptions, type RunLock, type UnitKey, unitName } from '../port.ts';
import { readUnitRows } from './ledger.ts';
import type { Link } from './link.ts';
import { lockKey } from './lock-key.ts';
import type { Session } from './session.ts';

/**
 * How long the run lock is tried for after the connection was lost: the server frees what a client held within two
 * minutes, however the client went.
 */
const REGAIN_MS = 150_000;
const REGAIN_PAUSE_MS = 250;

/**
 * What this process holds of a warehouse, as advisory locks of its session: the server frees them when the session
 * ends, however that happens. A new session holds nothing, so what was claimed in the old one counts as lost.
 */
export class Claims {
  readonly #session: Session;
  /** By the lock's key, the generation of the session that took it. */
  readonly #held = new Map<string, number>();
  /** The run locks of this process, true for one held alone: the server lets one session take a lock again. */
  #runLocks: boolean[] = [];
  /** True once it is known that no proxy shares the session. */
  #isOwn = false;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Takes the run lock: workers share it, exclusive work refuses them and each other.
   * @throws {BusyError} when it is held in a way that excludes this.
   * @throws {UsageError} when a proxy shares the session, so that nothing could be held in it.
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
        // A session that was lost took the run lock along.
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
   * Makes sure that claims which were made still hold; units that were never claimed are not looked at.
   * @throws {ClaimLostError} when one was lost with the connection, so that another worker may have taken the unit.
   */
  expectHeld(units: readonly UnitKey[]): void {
    for (const unit of units) {
      const generation = this.#held.get(this.#keyOf(unit));
      if (generation === undefined || generation === this.#session.generation) continue;
      this.#held.delete(this.#keyOf(unit));
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
      // Read after the locks are taken: what their last holders committed is seen.
      return free.length === 0 ? [] : readUnitRows(link, free);
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
    // The server lets one session take a lock twice; a unit that is at work here is not free.
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

  /** Takes the run lock once more. The old session of this very process may hold it until the server ends it. */
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
          warn('the connection was lost with the lock', `waiting ${REGAIN_MS / 1000} seconds for it at most`);
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
    return lockKey(this.#session.target.schema, ['run']);
  }

  #keyOf(unit: UnitKey): string {
    return lockKey(this.#session.target.schema, ['unit', ...keyValues(unit)]);
  }
}
