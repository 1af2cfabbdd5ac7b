// @module-tag database-specific

import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import type { RunLock } from '../../../src/port/warehouse.ts';
import { dateOf, dayKey, readinessKey, type UnitKey } from '../../../src/units/unit.ts';
import { lockKey } from '../../../src/warehouse/postgres/session.ts';
import { firstLine, startScript } from '../../support/process/script.ts';
import { seeded } from '../../support/random/seed.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import {
  type Held,
  needsSessions,
  onDatabase,
  open,
  type Place,
} from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const ROWS = { tokens_daily: [[1, 2, 3, 4, 5, null]] };
const DAYS = Array.from({ length: 20 }, (_, n) => shiftDay(parseDay('2026-02-01'), n));
const UNITS = DAYS.map((day) => dayKey('org_1', { stream: 'tokens', day }));

const daysOf = (units: readonly UnitKey[]) => units.map(dateOf);

const STEPS = 150;
/** Few, so that the workers meet. */
const FEW = UNITS.slice(0, 6);
/** What a worker has of a unit. A claim that was lost with its connection stays lost until the unit is claimed again. */
type Claim = 'none' | 'held' | 'lost';

/** A worker with the claims that it must have, and the units whose locks its session has on the server. */
class ModelledWorker {
  readonly #name = `modelled ${randomUUID().slice(0, 8)}`;
  readonly claims = new Map<UnitKey, Claim>(FEW.map((unit) => [unit, 'none']));
  /** The connection is lost, which no operation has noticed yet. */
  #isCut = false;
  readonly #place: Place;
  #opened: { readonly warehouse: Held; readonly lock: RunLock } | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  async begin(): Promise<this> {
    const location = `${this.#place.location}&application_name=${encodeURIComponent(this.#name)}`;
    const warehouse = await open({ ...this.#place, location }, { clock: systemClock() });
    this.#opened = { warehouse, lock: await warehouse.lock() };
    return this;
  }

  get #parts() {
    if (this.#opened === undefined) throw new Error('the worker has not begun');
    return this.#opened;
  }

  holds(unit: UnitKey): boolean {
    return this.claims.get(unit) === 'held';
  }

  /** True if the server lets nobody else have the unit. */
  locks(unit: UnitKey): boolean {
    return !this.#isCut && this.holds(unit);
  }

  async claim(units: readonly UnitKey[], other: ModelledWorker): Promise<void> {
    this.#notice();
    const free = units.filter((unit) => !this.holds(unit) && !other.locks(unit));
    expect(daysOf(await this.#parts.lock.claim(units))).toEqual(daysOf(free));
    for (const unit of free) this.claims.set(unit, 'held');
  }

  async free(units: readonly UnitKey[]): Promise<void> {
    await this.#parts.lock.free(units);
    const freed = units.filter((unit) => this.holds(unit));
    for (const unit of freed) this.claims.set(unit, 'none');
    // Without a lock to free, nothing is sent.
    if (freed.length > 0) this.#notice();
  }

  async commit(units: readonly UnitKey[]): Promise<void> {
    this.#notice();
    const isLost = units.some((unit) => this.claims.get(unit) === 'lost');
    const error = await this.#parts.warehouse
      .commitDays(units.map((unit) => commitOf({ day: dateOf(unit), rows: ROWS })))
      .then(() => undefined, String);
    expect(error?.includes('was lost while') ?? false, error).toBe(isLost);
  }

  async cut(): Promise<void> {
    this.#isCut = true;
    await this.#place.query(
      'SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = ?',
      this.#name,
    );
  }

  /** The units whose locks the server gives to this worker are those that it must hold. */
  async expectLocks(): Promise<void> {
    const rows = await this.#place.query<{ key: string }>(
      `SELECT (l.classid::bigint << 32 | l.objid::bigint)::text AS key
        FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND a.application_name = ?`,
      this.#name,
    );
    const locked = new Set(rows.map(({ key }) => key));
    const schema = new URL(this.#place.location).searchParams.get('schema') ?? '';
    const keyOf = (unit: UnitKey) => lockKey(schema, ['unit', unit.orgId, unit.stream, dateOf(unit)]);
    const held = FEW.filter((unit) => this.locks(unit));
    expect(daysOf(FEW.filter((unit) => locked.has(keyOf(unit))))).toEqual(daysOf(held));
  }

  #notice(): void {
    if (this.#isCut) for (const unit of FEW) if (this.holds(unit)) this.claims.set(unit, 'lost');
    this.#isCut = false;
  }
}

onDatabase(postgres, () => {
  describe('two workers whose connections are lost at any moment', () => {
    it('have the locks of the units that they hold and no others, and store nothing under a lost claim', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const random = seeded('claims');
      const place = await postgres.migrated();
      const workers = [await new ModelledWorker(place).begin(), await new ModelledWorker(place).begin()];
      for (let step = 0; step < STEPS; step += 1) {
        const [worker, other] = random() < 0.5 ? workers : workers.toReversed();
        if (worker === undefined || other === undefined) throw new Error('there are two workers');
        const units = FEW.filter((_, n) => n === step % FEW.length || random() < 0.3);
        const kind = random();
        if (kind < 0.35) await worker.claim(units, other);
        else if (kind < 0.6) await worker.free(units);
        else if (kind < 0.8) await worker.commit(units);
        else await worker.cut();
        for (const one of workers) await one.expectLocks();
      }
    });
  });

  describe('workers that share a warehouse', () => {
    beforeEach(() => needsSessions(postgres));

    /** Two workers on one warehouse. */
    async function workers() {
      const one = await open(postgres);
      const other = await open(one.place);
      return { one, other, mine: await one.lock(), theirs: await other.lock() };
    }

    it('never hold the same unit', async () => {
      const { mine, theirs } = await workers();
      expect(daysOf(await mine.claim(UNITS.slice(0, 12)))).toEqual(DAYS.slice(0, 12));
      expect(daysOf(await theirs.claim(UNITS))).toEqual(DAYS.slice(12));
      expect(await mine.claim(UNITS)).toEqual([]);
      await mine.free(UNITS.slice(0, 2));
      expect(daysOf(await theirs.claim(UNITS))).toEqual(DAYS.slice(0, 2));
      await theirs.release();
      expect(daysOf(await mine.claim(UNITS))).toEqual([...DAYS.slice(0, 2), ...DAYS.slice(12)]);
    });

    it('get each unit once, however they race', async () => {
      const { mine, theirs } = await workers();
      const claim = (lock: RunLock) => Promise.all(UNITS.map((unit) => lock.claim([unit])));
      const [ours, others] = await Promise.all([claim(mine), claim(theirs)]);
      expect([...ours, ...others].flat().map(dateOf).toSorted()).toEqual(DAYS);
    });

    it('see what the last holder of a unit committed', async () => {
      const { one, mine, theirs } = await workers();
      await mine.claim(UNITS.slice(0, 1));
      await commitDay(one, commitOf({ rows: ROWS, settled: true }));
      await mine.free(UNITS.slice(0, 1));
      expect(await theirs.claim(UNITS.slice(0, 1))).toMatchObject([
        { state: 'loaded', rows: 1, attempts: 1 },
      ]);
    });

    it('do not block units of another organization, stream, day or warehouse', async () => {
      const { mine, theirs } = await workers();
      const [unit] = await mine.claim(UNITS.slice(0, 1));
      const others: UnitKey[] = [
        dayKey('org_2', { stream: 'tokens', day: parseDay('2026-02-01') }),
        dayKey('org_1', { stream: 'tools', day: parseDay('2026-02-01') }),
        readinessKey('org_1'),
      ];
      expect(await theirs.claim(others)).toHaveLength(others.length);
      const otherWarehouse = await (await open(postgres)).lock();
      expect(await otherWarehouse.claim(unit === undefined ? [] : [unit])).toHaveLength(1);
    });

    it('get the units of a killed worker', { tags: 'ci/rare' }, async () => {
      const warehouse = await open(postgres);
      const script = startScript(
        `
      import { openWarehouse } from './src/warehouse/open.ts';
      import { systemClock } from './src/core/clock.ts';
      const warehouse = await openWarehouse(process.env.WAREHOUSE, { clock: systemClock(), create: false });
      const claimed = await (await warehouse.lock()).claim(JSON.parse(process.env.UNITS));
      console.log(claimed.length);
      setInterval(() => {}, 1000);`,
        { env: { WAREHOUSE: warehouse.place.location, UNITS: JSON.stringify(UNITS.slice(0, 5)) } },
      );
      expect(await firstLine(script)).toBe('5');
      const lock = await warehouse.lock();
      expect(await lock.claim(UNITS)).toHaveLength(UNITS.length - 5);
      script.child.kill('SIGKILL');
      await script.ended;
      const taken = new Set<string>();
      await expect
        .poll(async () => {
          for (const day of daysOf(await lock.claim(UNITS.slice(0, 5)))) taken.add(day);
          return [...taken].toSorted();
        })
        .toEqual(DAYS.slice(0, 5));
    });
  });
});
