// @module-tag database-specific

import { expect, it } from 'vitest';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { pooled } from '../../support/postgres/pooler.ts';
import { createRig, rigOver } from '../../support/rig/rig.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const ROWS = { tokens_daily: [[1, 2, 3, null, null, null]] };

onDatabase(postgres, () => {
  it('works through a pool in session mode', { tags: 'ci/rare' }, async (context) => {
    needsSessions(postgres);
    const place = await pooled(postgres.place(), { mode: 'session' });
    if (place === null) return context.skip('this machine has no pgbouncer');
    const warehouse = await open(place);
    const lock = await warehouse.lock();
    const commit = commitOf({ rows: ROWS });
    expect(await lock.claim([commit])).toHaveLength(1);
    expect(await commitDay(warehouse, commit)).toMatchObject({ rowsWritten: 1 });
    await lock.release();
  });

  it('detects a pool in transaction mode before anything is written through another backend', {
    tags: 'ci/rare',
  }, async (context) => {
    needsSessions(postgres);
    const direct = postgres.place();
    await (await open(direct)).close();
    const place = await pooled(direct, { mode: 'transaction' });
    if (place === null) return context.skip('this machine has no pgbouncer');
    const error = await thrownBy(workThrough(place));
    expect(error).toMatchObject({
      name: 'UsageError',
      exitCode: 2,
      hint: expect.stringContaining('session mode'),
    });
    expect(await direct.query('SELECT COUNT(*) AS n FROM tokens_daily')).toEqual([{ n: 0 }]);
  });

  it('refuses a pool in transaction mode with one backend before the first claim, and leaves no lock', async (context) => {
    needsSessions(postgres);
    const { emulator } = await createRig();
    const rig = rigOver(emulator, postgres.place());
    await (await open(rig.place)).close();
    const name = `pooled ${process.pid}`;
    const named = { ...rig.place, location: `${rig.place.location}&application_name=${name}` };
    const place = await pooled(named, { mode: 'transaction', backends: 1 });
    if (place === null) return context.skip('this machine has no pgbouncer');
    const run = () => thrownBy(rigOver(rig.emulator, place).run());
    const refusal = { name: 'UsageError', exitCode: 2, hint: expect.stringContaining('session mode') };
    expect(await run()).toMatchObject({ ...refusal, message: expect.stringContaining('shares sessions') });
    for (const error of await Promise.all([run(), run(), run()])) expect(error).toMatchObject(refusal);
    expect(rig.emulator.journal().recent).toEqual([]);
    // The pool may have closed its backend, which releases the locks too.
    const locks = await rig.place.query(
      `SELECT l.pid, l.mode FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE l.locktype = 'advisory' AND a.application_name = ?`,
      name,
    );
    expect(locks).toEqual([]);
  });

  it('works through a pool in session mode without a second backend', {
    tags: 'ci/variant',
  }, async (context) => {
    needsSessions(postgres);
    const place = await pooled(postgres.place(), { mode: 'session', backends: 1 });
    if (place === null) return context.skip('this machine has no pgbouncer');
    const warehouse = await open(place);
    const lock = await warehouse.lock();
    expect(await lock.claim([commitOf()])).toHaveLength(1);
    await lock.release();
  });
});

/** Works while other clients use the same pool, so that transactions land on whatever backend is free. */
async function workThrough(place: Place): Promise<void> {
  const others = [await place.connect(), await place.connect()];
  const busy = Promise.all(others.map((other) => other.query('SELECT pg_sleep(0.3)')));
  const warehouse = await open(place);
  const lock = await warehouse.lock().finally(() => busy);
  for (let n = 1; n < 50; n += 1) {
    const more = [await open(place), await open(place)];
    await lock.claim([commitOf({ day: '2026-02-01' })]);
    await Promise.all([...more.map((other) => readOrganizationIds(other)), readOrganizationIds(warehouse)]);
  }
}
