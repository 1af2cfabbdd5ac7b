import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { filledPlace } from '../../support/dashboard/serve.ts';
import { daywalk, startDaywalk } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { needsSessions, onDatabase, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { endless } from '../../support/warehouse/endless-table.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const QUESTION = ['metric', 'sessions', '--by', 'user', '--from', '2026-02-02', '--until', '2026-02-08'];
const BEGUN_MS = 2_000;

/** The environment of a command whose statements never end. */
async function slowEnv(database: Parameters<typeof filledPlace>[0]) {
  needsSessions(database);
  const place = await filledPlace(database);
  await place.execute(endless('user_daily'));
  return { place, env: { DAYWALK_WAREHOUSE: place.location } };
}

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

onEachDatabase((database) => {
  it('daywalk metric ends with the code 6 when a statement has taken longer than DAYWALK_QUERY_TIMEOUT', async () => {
    const { env } = await slowEnv(database);
    const { code, stderr } = await daywalk(QUESTION, {
      cwd: tempDir(),
      env: { ...env, DAYWALK_QUERY_TIMEOUT: '1s' },
    });
    expect([code, stderr]).toEqual([6, expect.stringContaining('DAYWALK_QUERY_TIMEOUT')]);
  });
});

onDatabase(sqlite, () => {
  it('with a killed command, the process that reads for it ends', {
    skip: process.platform !== 'linux',
    tags: 'ci/variant',
  }, async () => {
    const { env } = await slowEnv(sqlite);
    const { child, ended } = startDaywalk(QUESTION, { cwd: tempDir(), env });
    await after(BEGUN_MS);
    const reader = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'));
    expect(isAlive(reader)).toBe(true);
    child.kill('SIGKILL');
    await ended;
    await expect.poll(() => isAlive(reader), { timeout: 1_000 + BUSY_MACHINE_MS }).toBe(false);
  });
});

/** False for a process that nobody has asked for its exit code, too. */
function isAlive(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !/\) Z /.test(readFileSync(file, 'utf8'));
}

onDatabase(postgres, () => {
  it('with a killed command, the server ends its statement', async () => {
    const { place, env } = await slowEnv(postgres);
    const working = async () => {
      const [row] = await place.query<{ n: number }>(
        "SELECT COUNT(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%user_daily%' AND pid <> pg_backend_pid() AND datname = current_database()",
      );
      return row?.n;
    };
    const { child, ended } = startDaywalk(QUESTION, { cwd: tempDir(), env });
    await expect.poll(working).toBe(1);
    child.kill('SIGKILL');
    await ended;
    await expect.poll(working, { timeout: 1_000 + BUSY_MACHINE_MS }).toBe(0);
  });
});
