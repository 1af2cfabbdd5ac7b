// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { sqlTarget } from '../../../src/bi/sql.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { PAGE_KINDS } from '../../../src/look/pages/all-pages.ts';
import { readWarehouse } from '../../../src/warehouse/open.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { serve } from '../../support/dashboard/serve.ts';
import { executeAlone } from '../../support/postgres/execute-alone.ts';
import { keepsPrepared, pooled } from '../../support/postgres/pooler.ts';
import { type Standby, startStandby } from '../../support/postgres/standby.ts';
import { command, loadFiles, readingCommands } from '../../support/reading/reading-commands.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { type Rig, rigOver } from '../../support/rig/rig.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { needsSessions, onDatabase, open } from '../../support/warehouse/each-database.ts';
import { postgres, postgresPlace } from '../../support/warehouse/postgres-place.ts';

const NO_STANDBY = 'no PostgreSQL is installed that could be a standby';
const NO_POOLER = 'this machine has no pgbouncer';
const PAGES = PAGE_KINDS.flatMap(({ name, path }) => (name === undefined ? [] : [path]));

/** Runs every command that only reads, and asks for the pages of the dashboard, at another address of a warehouse. */
async function expectReadable(rig: Rig, location: string): Promise<void> {
  const there = { ...rig, path: location };
  for (const [name, args] of Object.entries(readingCommands())) {
    const { code, stderr } = await command(there, args);
    expect([name, code, stderr]).toEqual([name, 0, expect.not.stringContaining('error')]);
  }
  const [own, other] = [rig, there].map((each) => command(each, ['digest', '--json']));
  expect((await other)?.stdout).toBe((await own)?.stdout);
  const served = await serve({ location });
  for (const path of PAGES) expect([path, (await served.ask(path)).status]).toEqual([path, 200]);
}

/** A filled warehouse on a primary, and its address on the standby. */
async function onStandby(
  settings?: readonly string[],
): Promise<{ pair: Standby; rig: Rig; location: string } | undefined> {
  const pair = await startStandby(settings);
  if (pair === undefined) return undefined;
  const { emulator } = await exportedRig({ users: 6, reports: 2 });
  const rig = rigOver(emulator, postgresPlace(pair.primary.url, 'daywalk'));
  await rig.run();
  await loadFiles(rig);
  await pair.caughtUp();
  const url = new URL(rig.path);
  url.host = new URL(pair.standby.url).host;
  return { pair, rig, location: url.href };
}

/** The settings of a session that may be changed in it, but for those that a pooler sets for each client. */
const SETTINGS = `SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) AS settings,
    coalesce(current_setting('daywalk.session', true), '') AS mark,
    (SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'daywalk%')::int AS prepared
  FROM pg_settings WHERE context IN ('user', 'superuser') AND name NOT IN ('application_name', 'client_encoding')`;

onDatabase(postgres, () => {
  describe('a hot standby', () => {
    it('answers every command that only reads, the dashboard and the files of daywalk bi sql', {
      tags: 'ci/variant',
    }, async (context) => {
      const on = await onStandby();
      if (on === undefined) return context.skip(NO_STANDBY);
      const { pair, rig, location } = on;
      await expectReadable(rig, location);
      const place = postgresPlace(pair.standby.url, 'daywalk', async () => undefined);
      const files = sqlTarget.files().filter(({ path }) => /^postgres\/.*\.sql$/.test(path));
      expect(files.length).toBeGreaterThan(250);
      for (const { text } of files.filter((_, index) => index % 5 === 0)) await place.query(text);
      const backup = await command({ ...rig, path: location }, ['backup', tempFile()]);
      expect([backup.code, backup.stderr]).toEqual([0, expect.stringContaining('does not know it')]);
    });

    it('shows every commit at the next request of the dashboard', { tags: 'ci/rare' }, async (context) => {
      const on = await onStandby();
      if (on === undefined) return context.skip(NO_STANDBY);
      const { pair, rig, location } = on;
      const served = await serve({ location });
      const week = '/?from=2026-02-02&until=2026-02-08';
      // A transaction that does not end, so that snapshots of the standby have one in progress.
      const idle = await rig.place.connect();
      await idle.execute(
        "BEGIN; UPDATE export_state SET value = value WHERE name = 'none'; SELECT pg_current_xact_id()",
      );
      const seen = new Set<string>();
      for (const credits of [3, 4, 5, 6]) {
        // Begins first and ends last.
        const [first, second] = [await rig.place.connect(), await rig.place.connect()];
        await first.execute(
          `BEGIN; UPDATE user_daily SET billable_tokens = ${credits} WHERE date < '2026-02-05'`,
        );
        await second.execute(
          `BEGIN; UPDATE user_daily SET billable_tokens = ${credits} WHERE date >= '2026-02-05'`,
        );
        await second.execute('COMMIT');
        await pair.caughtUp();
        seen.add((await served.ask(week)).body);
        await first.execute('COMMIT');
        await pair.caughtUp();
        seen.add((await served.ask(week)).body);
      }
      expect(seen.size).toBe(8);
      await idle.execute('ROLLBACK');
    });

    it.for([['a query is running', true] as const, ['nothing is running', false] as const])(
      'a read that it cancels while %s is done once more, and then named',
      { tags: 'ci/rare' },
      async ([, isRunning], { skip }) => {
        const on = await onStandby(['max_standby_streaming_delay=0', 'hot_standby_feedback=off']);
        if (on === undefined) return skip(NO_STANDBY);
        const { pair, rig, location } = on;
        /** Removes rows that a snapshot of the standby still sees. */
        const change = async () => {
          await rig.place.execute("UPDATE user_daily SET extra = '{}'");
          await rig.place.execute('VACUUM user_daily');
          await pair.caughtUp();
        };
        let calls = 0;
        const read = (changes: number) =>
          readWarehouse(location, { clock: systemClock() }, (warehouse) =>
            warehouse.inSnapshot(async () => {
              calls += 1;
              await warehouse.version();
              const running = isRunning
                ? warehouse.select(sql`SELECT pg_sleep(10)::text AS slept`)
                : undefined;
              const ended = running?.catch(() => undefined);
              if (calls <= changes) await change();
              if (calls <= changes && running !== undefined) await running;
              await ended;
              return warehouse.rowsOf(tables.tokensDaily, { orgId: 'none' });
            }),
          );
        expect(await read(1)).toEqual([]);
        expect(calls).toBe(2);
        calls = 0;
        expect(await thrownBy(read(2))).toMatchObject({
          name: 'BusyError',
          exitCode: 75,
          message: expect.stringMatching(/the standby cancelled it: .*conflict with recovery/),
          hint: expect.stringContaining('max_standby_streaming_delay'),
        });
        expect(calls).toBe(2);
      },
    );
  });

  describe('a pool in transaction mode', () => {
    it.for([0, 100])(
      'serves every command that only reads, and its backends keep no setting (%i prepared statements)',
      { tags: 'ci/variant' },
      async (preparedMax, { skip }) => {
        needsSessions(postgres);
        if (preparedMax > 0 && !keepsPrepared()) return skip('this pgbouncer keeps no prepared statements');
        const rig = await exportedRig({ users: 6, reports: 2 }, { database: postgres });
        await loadFiles(rig);
        const place = await pooled(rig.place, { mode: 'transaction', backends: 2, preparedMax });
        if (place === null) return skip(NO_POOLER);
        // Other clients keep a backend busy now and then, so that transactions of one client go to both.
        const others = keepBusy(place.location);
        await expectReadable(rig, place.location);
        await others.end();
        const [untouched] = await executeAlone<object>(rig.path, SETTINGS);
        expect(untouched).toMatchObject({ mark: '', prepared: 0 });
        const backends = await Promise.all(
          // Both backends: each query keeps its backend for a moment.
          [1, 2].map(() =>
            executeAlone<{ pid: number }>(
              place.location,
              `WITH found AS MATERIALIZED (${SETTINGS}) SELECT found.*, pg_backend_pid() AS pid, pg_sleep(0.5)::text FROM found`,
            ),
          ),
        );
        expect(new Set(backends.map(([backend]) => backend?.pid)).size).toBe(2);
        for (const [backend] of backends) expect(backend).toMatchObject({ ...untouched });
      },
    );

    it('notes where a warehouse was published to', { tags: 'ci/rare' }, async (context) => {
      needsSessions(postgres);
      const rig = await exportedRig({ users: 3, reports: 1 }, { database: postgres });
      const place = await pooled(rig.place, { mode: 'transaction', backends: 1 });
      if (place === null) return context.skip(NO_POOLER);
      const { code } = await command({ ...rig, path: place.location }, ['publish', '--sqlite', tempFile()]);
      expect(code).toBe(0);
      expect(await rig.value("SELECT value FROM export_state WHERE name = 'published'")).toContain(
        'daywalk-test-',
      );
    });
  });

  it('a pool in statement mode is named with the remedy', async (context) => {
    needsSessions(postgres);
    const warehouse = await open(postgres);
    const place = await pooled(warehouse.place, { mode: 'statement' });
    if (place === null) return context.skip(NO_POOLER);
    const read = readWarehouse(place.location, { clock: systemClock() }, async () => undefined);
    expect(await thrownBy(read)).toMatchObject({
      exitCode: 6,
      hint: expect.stringContaining('transaction mode'),
    });
  });
});

/** Runs short transactions through a pool until it is ended. */
function keepBusy(location: string): { end(): Promise<void> } {
  let isOver = false;
  const work = async () => {
    while (!isOver) await executeAlone(location, 'BEGIN; SELECT pg_sleep(0.02); COMMIT');
  };
  const all = Promise.all([work(), work()]);
  return {
    end: async () => {
      isOver = true;
      await all;
    },
  };
}
