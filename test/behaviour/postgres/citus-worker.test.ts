// @module-tag database-specific

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { needsSessions, onDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

/**
 * A database with the table in which Citus keeps which node this is, as only a superuser can make it; null where the
 * role of the tests is none.
 */
async function databaseOfGroup(group: number): Promise<Place | null> {
  const place = postgres.place();
  const [who] = await place.query('SELECT rolsuper AS n FROM pg_roles WHERE rolname = current_user');
  if (who?.['n'] !== 1) return null;
  const name = `daywalk_node_${randomUUID().slice(0, 8)}`;
  await place.execute(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  onTestFinished(() => place.execute(`DROP DATABASE ${name} WITH (FORCE)`));
  const url = new URL(place.location);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(
    `SET allow_system_table_mods = on; CREATE TABLE pg_catalog.pg_dist_local_group (groupid integer PRIMARY KEY);
     INSERT INTO pg_catalog.pg_dist_local_group VALUES (${group})`,
  );
  await client.end();
  return { ...place, location: url.href };
}

onDatabase(postgres, () => {
  it('a worker node of Citus is refused with exit code 2, and the hint names the coordinator', async (context) => {
    needsSessions(postgres);
    const worker = await databaseOfGroup(3);
    if (worker === null) return context.skip('the role of the tests is no superuser');
    expect(await thrownBy(open(worker))).toMatchObject({
      name: 'UsageError',
      exitCode: 2,
      message: expect.stringContaining('worker node'),
      hint: expect.stringContaining('coordinator'),
    });
  });

  it('the coordinator of Citus is accepted', { tags: 'ci/rare' }, async (context) => {
    needsSessions(postgres);
    const coordinator = await databaseOfGroup(0);
    if (coordinator === null) return context.skip('the role of the tests is no superuser');
    const warehouse = await open(coordinator);
    expect(await readOrganizationIds(warehouse)).toEqual([]);
    await warehouse.close();
  });
});
