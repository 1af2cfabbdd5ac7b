// @module-tag database-specific

import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { freePort } from '../../support/network/free-port.ts';
import { createRig, rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const NOBODY = 65_534;
const ROWS = { tokens_daily: [[1, 2, 3, null, null, null]] };

/** Starts a PgBouncer in front of a place; null if this machine has none. */
async function pooled(place: Place, mode: 'session' | 'transaction', backends = 3): Promise<Place | null> {
  if (spawnSync('pgbouncer', ['--version']).error !== undefined) return null;
  const folder = tempDir();
  chmodSync(folder, 0o755);
  const url = new URL(place.location);
  const port = await freePort();
  const config = join(folder, 'pgbouncer.ini');
  const database = url.pathname.slice(1);
  writeFileSync(
    config,
    `[databases]
${database} = host=${url.hostname} port=${url.port === '' ? '5432' : url.port} user=${url.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${backends}
ignore_startup_parameters = extra_float_digits
`,
  );
  const isRoot = process.getuid?.() === 0;
  const child = spawn('pgbouncer', [config], {
    stdio: 'ignore',
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await listening(port);
  url.host = `127.0.0.1:${port}`;
  return { ...place, location: url.href };
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isUp) return;
    await delay(25);
  }
  throw new Error(`nothing listens on port ${port}`);
}

onDatabase(postgres, () => {
  it('works through a pool in session mode', async (context) => {
    needsSessions(postgres);
    const place = await pooled(postgres.place(), 'session');
    if (place === null) return context.skip('this machine has no pgbouncer');
    const warehouse = await open(place);
    const lock = await warehouse.lock();
    const commit = commitOf({ rows: ROWS });
    expect(await lock.claim([commit])).toHaveLength(1);
    expect(await commitDay(warehouse, commit)).toMatchObject({ rowsWritten: 1 });
    await lock.release();
  });

  it('detects a pool in transaction mode before anything is written through another backend', async (context) => {
    needsSessions(postgres);
    const direct = postgres.place();
    await (await open(direct)).close();
    const place = await pooled(direct, 'transaction');
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
    const place = await pooled(named, 'transaction', 1);
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

  it('works through a pool in session mode without a second backend', async (context) => {
    needsSessions(postgres);
    const place = await pooled(postgres.place(), 'session', 1);
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
