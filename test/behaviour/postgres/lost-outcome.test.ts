// @module-tag database-specific

import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { readUnits } from '../../../src/ledger/ledger.ts';
import { newestInstalled } from '../../support/postgres/binaries.ts';
import { executeAlone } from '../../support/postgres/execute-alone.ts';
import { keepProcess } from '../../support/postgres/kept-process.ts';
import { postgresProxy } from '../../support/postgres/proxy.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { postgresPlace } from '../../support/warehouse/postgres-place.ts';

const SCHEMA = 'outcome';
/** The server writes its log so rarely that a crash loses a transaction without COMMIT, and its ID is given again. */
const LATE_LOG = 'wal_writer_delay=10s';
const COMMIT = commitOf({ rows: { tokens_daily: [[1, 2, 3, null, null, null]] } });

const installed = newestInstalled(process.env['PATH'] ?? '');

/** A warehouse on a server of its own, behind a proxy that loses the response to a COMMIT and is gone then. */
async function openBehindProxy(role = 'postgres') {
  const server = await keepProcess('./own-server.ts', [installed?.folder ?? '', '', LATE_LOG]);
  onTestFinished(() => server.stop());
  const sql = (text: string) => executeAlone<{ value: string }>(server.url, text);
  const ask = async (text: string) => (await sql(`SELECT (${text})::text AS value`))[0]?.value;
  if (role !== 'postgres') {
    await sql(`CREATE ROLE ${role} LOGIN; GRANT CREATE ON DATABASE postgres TO ${role};
      REVOKE EXECUTE ON FUNCTION pg_control_checkpoint() FROM PUBLIC`);
  }
  let state: 'up' | 'gone' = 'up';
  let atCommit = (_cut: (when: 'before' | 'after') => void): void => undefined;
  const proxy = await postgresProxy(server.url, {
    state: () => state,
    onSent: (chunk, cut) => {
      if (chunk.includes('COMMIT\0')) atCommit(cut);
    },
  });
  const url = new URL(proxy.url);
  url.username = role;
  const place = postgresPlace(url.href, SCHEMA, async () => undefined);
  const warehouse = await open(place, { clock: systemClock() });
  return {
    sql,
    ask,
    warehouse,
    /** Commits a day and loses the response; then this happens to the server before it is in reach again. */
    commitAndLose: async (when: 'before' | 'after', happens: () => Promise<void>) => {
      const lost = Promise.withResolvers<void>();
      atCommit = (cut) => {
        atCommit = () => undefined;
        cut(when);
        state = 'gone';
        lost.resolve();
      };
      const happened = lost.promise.then(happens).finally(() => {
        state = 'up';
      });
      const [outcome] = await Promise.all([commitDay(warehouse, COMMIT), happened]);
      return outcome;
    },
    crash: async () => {
      const begun = () => ask('pg_postmaster_start_time()').catch(() => undefined);
      const before = await begun();
      server.tell('restart');
      await expect
        .poll(async () => [undefined, before].includes(await begun()), { interval: 20 })
        .toBe(false);
    },
  };
}

describe('a COMMIT without a response', { skip: installed === undefined }, () => {
  // Of a server that others use too, a checkpoint may come in between.
  it('S10: that took place is known for one that did: the day is stored once', async () => {
    const { warehouse, commitAndLose } = await openBehindProxy();
    expect(await commitAndLose('after', async () => undefined)).toMatchObject({ rowsWritten: 1 });
    expect(await readUnits(warehouse, COMMIT.orgId)).toMatchObject([{ attempts: 1, rows: 1 }]);
  });

  testVariants([
    ['has given its ID to another transaction', 30, 'committed'],
    ['does not know its ID', 0, 'is in the future'],
  ])('of a server that has crashed and %s is repeated, and the day is stored', async (_, others, said) => {
    const { sql, ask, warehouse, commitAndLose, crash } = await openBehindProxy();
    // A page of the log that is full is written, whatever the delay: the transaction begins on a new one.
    await ask('pg_switch_wal()');
    const last = await ask('pg_current_xact_id()');
    const outcome = await commitAndLose('before', async () => {
      await crash();
      for (let n = 0; n < others; n += 1) await sql('SELECT pg_current_xact_id()');
      // If the crash had lost nothing, the test would show nothing.
      const own = `pg_xact_status('${Number(last) + 1}')`;
      expect(await ask(own).catch(String)).toContain(said);
    });
    expect(outcome).toMatchObject({ rowsWritten: 1 });
    expect(await readUnits(warehouse, COMMIT.orgId)).toMatchObject([{ state: 'loaded', attempts: 1 }]);
  });

  it('that a crash has not lost is repeated, and the day is stored once', {
    tags: 'ci/variant',
  }, async () => {
    const { warehouse, commitAndLose, crash, ask } = await openBehindProxy();
    expect(await commitAndLose('after', crash)).toMatchObject({ rowsWritten: 0, restated: false });
    expect(await readUnits(warehouse, COMMIT.orgId)).toMatchObject([{ state: 'loaded', rows: 1 }]);
    expect(await ask(`SELECT COUNT(*) FROM ${SCHEMA}.tokens_daily`)).toBe('1');
  });

  it('is repeated if the role may not see whether the server has crashed', {
    tags: 'ci/variant',
  }, async () => {
    const { warehouse, commitAndLose, ask } = await openBehindProxy('stranger');
    expect(await commitAndLose('after', async () => undefined)).toMatchObject({ restated: false });
    expect(await readUnits(warehouse, COMMIT.orgId)).toMatchObject([{ state: 'loaded', rows: 1 }]);
    expect(await ask(`SELECT COUNT(*) FROM ${SCHEMA}.tokens_daily`)).toBe('1');
  });
});
