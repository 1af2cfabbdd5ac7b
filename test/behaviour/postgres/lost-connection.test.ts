// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { readUnits } from '../../../src/ledger/ledger.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { type ProxyOptions, postgresProxy } from '../../support/postgres/proxy.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const ROWS = { tokens_daily: [[1, 2, 3, null, null, null]] };
const clock = systemClock();

/** Opens a warehouse through a proxy. */
async function openThrough(options: ProxyOptions, place: Place = postgres.place()) {
  const proxy = await postgresProxy(place.location, options);
  const through: Place = { ...place, location: proxy.url };
  return { warehouse: await open(through, { clock }), place };
}

/** Cuts the connection at the n-th COMMIT from now, once. */
function cutAtCommit() {
  let left = Number.POSITIVE_INFINITY;
  let fired = 0;
  return {
    arm: (nth: number) => {
      left = nth;
    },
    fired: () => fired,
    onSent:
      (when: 'before' | 'after') =>
      (chunk: Buffer, cut: (when: 'before' | 'after') => void): void => {
        if (!chunk.includes('COMMIT\0')) return;
        left -= 1;
        if (left !== 0) return;
        fired += 1;
        cut(when);
      },
  };
}

onDatabase(postgres, () => {
  describe('a connection that the server closed', () => {
    it('S9: is reopened, and the transaction in progress is executed once', async () => {
      needsSessions(postgres);
      const place = postgres.place();
      // Other tests have connections to the same server, which must not end.
      const name = `lost ${new URL(place.location).searchParams.get('schema')?.slice(-13)}`;
      const location = `${place.location}&application_name=${encodeURIComponent(name)}`;
      const warehouse = await open({ ...place, location }, { clock });
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      const [ended] = await warehouse.place.query<{ n: number }>(
        `SELECT COUNT(pg_terminate_backend(pid)) AS n FROM pg_stat_activity
          WHERE application_name = ? AND query LIKE '%COMMIT%' AND pid <> pg_backend_pid()`,
        name,
      );
      expect(ended?.n).toBeGreaterThan(0);
      const second = commitOf({ day: '2026-02-02', rows: ROWS });
      expect(await commitDay(warehouse, second)).toMatchObject({ rowsWritten: 1, restated: false });
      expect(await readUnits(warehouse, 'org_1')).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
    });

    it('loses its claims: what was pulled under them is refused, and can be claimed again', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const cutter = cutAtCommit();
      const { warehouse } = await openThrough({ onSent: cutter.onSent('before') });
      const lock = await warehouse.lock();
      const commit = commitOf({ rows: ROWS });
      expect(await lock.claim([commit])).toHaveLength(1);
      cutter.arm(1);
      expect(await thrownBy(commitDay(warehouse, commit))).toMatchObject({
        name: 'ClaimLostError',
        effect: 'unit',
      });
      expect(cutter.fired()).toBe(1);
      expect(await readUnits(warehouse, 'org_1')).toEqual([]);
      expect(await lock.claim([commit])).toHaveLength(1);
      expect(await commitDay(warehouse, commit)).toMatchObject({ rowsWritten: 1 });
      await lock.release();
    });

    it('loses the claims of all units of a transaction, and keeps none of them when they are committed one by one', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const cutter = cutAtCommit();
      const { warehouse } = await openThrough({ onSent: cutter.onSent('before') });
      const lock = await warehouse.lock();
      const commits = ['2026-02-01', '2026-02-02'].map((day) => commitOf({ day, rows: ROWS }));
      expect(await lock.claim(commits)).toHaveLength(2);
      cutter.arm(1);
      for (const lost of [commits, ...commits.map((commit) => [commit])]) {
        expect(await thrownBy(warehouse.commitDays(lost))).toMatchObject({ name: 'ClaimLostError' });
      }
      expect(await readUnits(warehouse, 'org_1')).toEqual([]);
      // Units are also freed while they are in work.
      await lock.free(commits);
      expect(await thrownBy(warehouse.commitDays(commits))).toMatchObject({ name: 'ClaimLostError' });
      expect(await lock.claim(commits)).toHaveLength(2);
      expect(await warehouse.commitDays(commits)).toHaveLength(2);
      await lock.release();
    });

    it('takes the run lock again once, however many claims come together, so that it is free after the run', {
      tags: 'ci/variant',
    }, async () => {
      needsSessions(postgres);
      const cutter = cutAtCommit();
      const { warehouse, place } = await openThrough({ onSent: cutter.onSent('before') });
      const lock = await warehouse.lock();
      cutter.arm(1);
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      expect(cutter.fired()).toBe(1);
      await Promise.all(['2026-02-02', '2026-02-03'].map((day) => lock.claim([commitOf({ day })])));
      const other = await open(place, { clock });
      await expect(other.lock({ exclusive: true })).rejects.toMatchObject({ exitCode: 75 });
      await lock.release();
      await (await other.lock({ exclusive: true })).release();
    });

    it('that cannot be reopened ends with exit code 6 and a hint; after a stop signal the wait is one second', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const stop = new AbortController();
      const place = postgres.place();
      let isDown = false;
      const proxy = await postgresProxy(place.location, {
        onSent: (_, cut) => {
          if (isDown) cut('before');
        },
      });
      const warehouse = await open({ ...place, location: proxy.url }, { clock, signal: stop.signal });
      isDown = true;
      stop.abort();
      const since = Date.now();
      expect(await thrownBy(commitDay(warehouse, commitOf({ rows: ROWS })))).toMatchObject({
        name: 'StorageError',
        exitCode: 6,
        hint: expect.stringContaining('run again'),
      });
      expect(Date.now() - since).toBeLessThan(5_000 + BUSY_MACHINE_MS);
    });
  });

  describe('a lost response to a COMMIT', () => {
    it('S10: that did not take place is made up for: the day is stored once', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const cutter = cutAtCommit();
      const { warehouse, place } = await openThrough({ onSent: cutter.onSent('before') });
      cutter.arm(1);
      const outcome = await commitDay(warehouse, commitOf({ rows: ROWS, requests: 7 }));
      expect(cutter.fired()).toBe(1);
      expect(outcome).toMatchObject({ rowsWritten: 1, restated: false });
      expect(await readUnits(warehouse, 'org_1')).toMatchObject([{ attempts: 1, requests: 7, rows: 1 }]);
      expect(await place.query(`SELECT COUNT(*) AS n FROM ${tables.tokensDaily.name}`)).toEqual([{ n: 1 }]);
    });
  });
});
