// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import { storeHookEvents } from '../../../src/records/hook-events.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { EVENT } from '../../support/warehouse/hook-event-row.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

/** A place whose role has its own session settings. */
function withSettings(place: Place, settings: Readonly<Record<string, string>>): Place {
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  return { ...place, location: `${place.location}&options=${encodeURIComponent(options.join(' '))}` };
}

/** Functions of the names that a session calls; each notes that it ran. */
function traps(schema: string): string {
  const noting = (signature: string, answer: string) =>
    `CREATE FUNCTION ${schema}.${signature} LANGUAGE plpgsql VOLATILE AS $$
     BEGIN PERFORM nextval('${schema}.ran'); RETURN ${answer}; END $$;`;
  return `CREATE SEQUENCE ${schema}.ran;
    ${noting('current_setting(name text) RETURNS text', 'pg_catalog.current_setting(name)')}
    ${noting('pg_backend_pid() RETURNS integer', 'pg_catalog.pg_backend_pid()')}
    ${noting('to_regclass(name text) RETURNS regclass', 'pg_catalog.to_regclass(name)')}
    ${noting('pg_current_xact_id() RETURNS xid8', 'pg_catalog.pg_current_xact_id()')}`;
}

/** How often one of the triggers fired; a sequence also counts rolled-back transactions. */
async function timesRun(place: Place, schema: string): Promise<unknown> {
  const [row] = await place.query(`SELECT is_called AS n FROM ${schema}.ran`);
  return row?.['n'];
}

onDatabase(postgres, () => {
  describe('a role whose search path puts other schemas before pg_catalog', () => {
    it('runs no function of those schemas', { tags: 'ci/rare' }, async () => {
      needsSessions(postgres);
      const strangers = postgres.place();
      await strangers.makeEmpty();
      const schema = `"${new URL(strangers.location).searchParams.get('schema')}"`;
      await strangers.execute(traps(schema));
      // The search path of the role names these schemas first. A name that is resolved before Daywalk sets its own path
      // would
      // be found there.
      const path = `${schema.replaceAll(' ', '\\ ')},pg_catalog`;
      const warehouse = await open(withSettings(postgres.place(), { search_path: path }));
      await commitDay(warehouse, commitOf({ rows: { tokens_daily: [[1, 2, 3, 4, 5, null]] } }));
      expect(await readOrganizationIds(warehouse)).toEqual(['org_1']);
      expect(await timesRun(strangers, schema)).toBe(0);
    });

    it('runs no function of the schema that matches better than one of pg_catalog', async () => {
      needsSessions(postgres);
      const { place } = await open(postgres);
      const schema = `"${new URL(place.location).searchParams.get('schema')}"`;
      await place.execute(
        `CREATE SEQUENCE ${schema}.ran;
         CREATE FUNCTION ${schema}.unnest(list text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
         BEGIN PERFORM nextval('${schema}.ran'); RETURN QUERY SELECT pg_catalog.unnest(list); END $$;
         CREATE FUNCTION ${schema}.unnest(list bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
         BEGIN PERFORM nextval('${schema}.ran'); RETURN QUERY SELECT pg_catalog.unnest(list); END $$`,
      );
      const warehouse = await open(place);
      const lock = await warehouse.lock();
      const commit = commitOf({ rows: { tokens_daily: [[1, 2, 3, 4, 5, null]] } });
      expect(await lock.claim([commit])).toHaveLength(1);
      await commitDay(warehouse, commit);
      await lock.release();
      expect(await timesRun(place, schema)).toBe(0);
    });
  });

  it('NULL is stored as NULL if the role disables NULL in arrays', async () => {
    needsSessions(postgres);
    const place = postgres.place();
    const warehouse = await open(withSettings(place, { array_nulls: 'off' }));
    await storeHookEvents(warehouse, { orgId: 'org_1', rows: [EVENT] });
    expect(await place.query('SELECT message, reason FROM hook_events')).toEqual([
      { message: null, reason: null },
    ]);
  });

  it('a long read is not ended by a transaction time-out of the role', async (context) => {
    needsSessions(postgres);
    const place = postgres.place();
    const [version] = await place.query("SELECT current_setting('server_version_num')::int AS n");
    if (Number(version?.['n']) < 170_000) return context.skip('transaction_timeout came with PostgreSQL 17');
    const warehouse = await open(withSettings(place, { transaction_timeout: '200' }));
    const read = warehouse.inSnapshot(async () => {
      await place.query('SELECT pg_sleep(0.6)');
      return readOrganizationIds(warehouse);
    });
    expect(await read).toEqual([]);
  });
});
