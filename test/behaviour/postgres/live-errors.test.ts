// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { copyWarehouse } from '../../../jobs/copy.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { startRun } from '../../../src/records/runs.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { postgresProxy } from '../../support/postgres/proxy.ts';
import { createRig, rigOver } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const ROWS = { tokens_daily: [[1, 2, 3, null, null, null]] };
const RUN = { runId: 'r', command: 'run', startedAt: new Date(0), versions: {} };
const clock = systemClock();

/**
 * Lets some writes of a table fail, by number, with an SQLSTATE, as a server does that has lost another one behind it.
 * A sequence counts them, also when they are rolled back.
 */
async function failing(place: Place, table: string, { state, when }: { state: string; when: string }) {
  await place.execute(
    `CREATE SEQUENCE IF NOT EXISTS tries;
     CREATE FUNCTION fail_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
     DECLARE n bigint := nextval('tries');
     BEGIN
       IF ${when} THEN RAISE EXCEPTION 'a server behind is lost' USING ERRCODE = '${state}'; END IF;
       RETURN NULL;
     END $$;
     CREATE TRIGGER fail AFTER INSERT OR UPDATE OR DELETE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION fail_${table}()`,
  );
}

/** How often the writes were tried. */
async function tries(place: Place): Promise<number> {
  const [row] = await place.query<{ n: number }>('SELECT last_value AS n FROM tries');
  return row?.n ?? 0;
}

/** A place whose connections have a recognizable name. */
function namedPlace(): Place & { connections(): Promise<unknown> } {
  const place = postgres.place();
  const name = `live ${new URL(place.location).searchParams.get('schema')?.slice(-13)}`;
  const connections = async () => {
    const rows = await place.query('SELECT pid FROM pg_stat_activity WHERE application_name = ?', name);
    return rows.length;
  };
  return {
    ...place,
    location: `${place.location}&application_name=${encodeURIComponent(name)}`,
    connections,
  };
}

onDatabase(postgres, () => {
  describe('a live connection that reports a broken one behind it', () => {
    it('F4: is closed, its claims are released, and the unit can be claimed and stored at once', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const place = namedPlace();
      const warehouse = await open(place, { clock });
      await failing(place, 'tokens_daily', { state: '08006', when: 'n = 1' });
      const lock = await warehouse.lock();
      const commit = commitOf({ rows: ROWS });
      await lock.claim([commit]);
      expect(await thrownBy(commitDay(warehouse, commit))).toMatchObject({ name: 'ClaimLostError' });
      await expect.poll(() => place.connections()).toBe(1);
      expect(await lock.claim([commit])).toHaveLength(1);
      expect(await commitDay(warehouse, commit)).toMatchObject({ rowsWritten: 1 });
      expect(await tries(place)).toBeGreaterThan(1);
      await lock.release();
    });

    it('F4: does not make a claim take its own locks for those of another worker', async () => {
      needsSessions(postgres);
      const warehouse = await open(postgres, { clock });
      const units = ['2026-02-01', '2026-02-02'].map((day) => commitOf({ day }));
      await commitDay(warehouse, commitOf({ day: '2026-02-01' }));
      const lock = await warehouse.lock();
      const other = await (await open(warehouse.place, { clock })).lock();
      // The first read of the stored unit, after the locks are taken, fails, and the connection goes on.
      await warehouse.place.execute(
        `CREATE SEQUENCE tries;
         CREATE FUNCTION answers() RETURNS boolean LANGUAGE plpgsql AS $$
         BEGIN
           IF nextval('tries') = 1 THEN RAISE EXCEPTION 'a server behind is lost' USING ERRCODE = 'XX000'; END IF;
           RETURN true;
         END $$;
         ALTER TABLE export_units RENAME TO stored_units;
         CREATE VIEW export_units AS SELECT * FROM stored_units WHERE answers()`,
      );
      expect(await lock.claim(units)).toHaveLength(2);
      expect(await tries(warehouse.place)).toBe(2);
      expect(await lock.claim(units)).toEqual([]);
      await lock.free(units);
      expect(await other.claim(units)).toHaveLength(2);
    });

    it('F4: costs a run only the units in progress: same content, and no wait for its own locks', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const rig = await createRig({}, { database: postgres });
      await (await open(rig.place)).close();
      await failing(rig.place, 'user_daily', { state: '08006', when: 'n IN (2, 5)' });
      await failing(rig.place, 'readiness_reports', { state: '08003', when: 'n % 7 = 0' });
      const since = performance.now();
      const { report, events } = await rig.run();
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0, unitsLeftOut: 0 });
      expect(performance.now() - since).toBeLessThan(30_000);
      expect(await tries(rig.place)).toBeGreaterThan(5);
      expect(events.filter(({ type }) => type === 'warning')).toEqual([]);
      const one = rigOver(rig.emulator, sqlite.place());
      await one.run();
      expect(await rig.digest()).toBe(await one.digest());
    });

    it('F4: does not make a copy refuse its own lock', { tags: 'ci/variant' }, async () => {
      needsSessions(postgres);
      const rig = await createRig();
      await rig.run();
      const to = postgres.place();
      await (await open(to)).close();
      await failing(to, 'user_daily', { state: '08006', when: 'n = 1' });
      const report = await copyWarehouse(
        rig.settings,
        { to: to.location, replace: false, wait: false },
        { clock, observe: () => undefined, signal: new AbortController().signal },
      );
      expect(report).toMatchObject({ exitCode: 0 });
      expect(report.digest.to).toBe(report.digest.from);
      expect(await tries(to)).toBeGreaterThan(1);
    });
  });

  describe('an abandoned statement', () => {
    it('releases the locks of its session although the server is still executing it', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const place = namedPlace();
      await (await open(place)).close();
      await place.execute(
        `CREATE SEQUENCE tries;
         CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN IF nextval('tries') = 1 THEN PERFORM pg_sleep(60); END IF; RETURN NULL; END $$;
         CREATE TRIGGER wait AFTER INSERT ON tokens_daily FOR EACH STATEMENT EXECUTE FUNCTION wait()`,
      );
      const hurried = { ...place, location: `${place.location}&query_timeout=500` };
      const warehouse = await open(hurried, { clock });
      const lock = await warehouse.lock({ exclusive: true });
      const commit = commitOf({ rows: ROWS });
      await lock.claim([commit]);
      expect(await thrownBy(commitDay(warehouse, commit))).toMatchObject({ name: 'ClaimLostError' });
      const since = performance.now();
      await expect.poll(() => lock.claim([commit])).toHaveLength(1);
      // The statement would be executed for a minute.
      expect(performance.now() - since).toBeLessThan(30_000);
      expect(await commitDay(warehouse, commit)).toMatchObject({ rowsWritten: 1 });
      await expect.poll(() => place.connections()).toBe(1);
      await lock.release();
    });
  });

  describe('a server that is unreachable for a while', () => {
    testVariants(['08006', 'XX000'])(
      'is also waited for when the start and end of a run are recorded (%s)',
      { tags: 'ci/rare' },
      async (state) => {
        needsSessions(postgres);
        const rig = await createRig({}, { database: postgres });
        await (await open(rig.place)).close();
        // The start inserts or updates, which counts as two; the end is one.
        // The table of runs is on every node of a Citus, so it cannot be written while one of them is away.
        await failing(rig.place, 'export_runs', { state, when: 'n <= 3 OR n BETWEEN 6 AND 8' });
        const { report } = await rig.run({ streams: ['activity'] });
        expect(report).toMatchObject({ exitCode: 0 });
        expect(await tries(rig.place)).toBe(9);
        expect(await rig.sql('SELECT exit_code FROM export_runs')).toEqual([{ exit_code: 0 }]);
      },
    );

    it('is waited for 30 seconds in total, even if connections succeed now and then', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const place = postgres.place();
      await (await open(place)).close();
      await failing(place, 'export_runs', { state: '08006', when: 'true' });
      const time = new FakeClock({ auto: true });
      const warehouse = await open(place, { clock: time });
      expect(await thrownBy(startRun(warehouse, RUN))).toMatchObject({ name: 'StorageError', exitCode: 6 });
      expect(time.monotonicMs()).toBe(30_000);
      // The pauses grow, so that a server that comes up is not run down.
      expect(await tries(place)).toBeLessThan(25);
    });

    it('is waited for 30 seconds in total if connecting takes long', { tags: 'ci/rare' }, async () => {
      needsSessions(postgres);
      const place = postgres.place();
      await (await open(place)).close();
      const time = new FakeClock({ auto: true });
      let isDown = false;
      let connections = 0;
      const proxy = await postgresProxy(place.location, {
        onSent: (chunk, cut) => {
          if (!isDown) return;
          if (chunk.includes('application_name')) {
            connections += 1;
            void time.advance(12_000);
          }
          if (chunk.includes('BEGIN')) cut('before');
        },
      });
      const warehouse = await open({ ...place, location: proxy.url }, { clock: time });
      isDown = true;
      expect(await thrownBy(startRun(warehouse, RUN))).toMatchObject({ name: 'StorageError', exitCode: 6 });
      expect(connections).toBeGreaterThan(1);
      // The last connection was begun in time, and takes as long as it takes here.
      expect(time.monotonicMs()).toBeLessThan(42_000);
    });
  });
});
