// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { readOrganizationIds, readUnits } from '../../../src/ledger/ledger.ts';
import { digestOf } from '../../../src/warehouse/digest.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const ROWS = { tokens_daily: [[1, 2, 3, 4, 5, null]] };
const HISTORY = 'SELECT hash, created_at FROM "__drizzle_migrations" ORDER BY created_at';

onEachDatabase((database) => {
  describe('opening a warehouse', () => {
    it('keeps existing content, and migrates nothing twice', { tags: 'ci/variant' }, async () => {
      const place = database.place();
      const first = await open(place);
      const history = await place.query(HISTORY);
      expect(history.length).toBeGreaterThan(0);
      await commitDay(first, commitOf({ rows: ROWS }));
      const digest = await digestOf(first);
      await first.close();
      const second = await open(place, { create: false });
      expect(await digestOf(second)).toEqual(digest);
      expect(await readUnits(second, 'org_1')).toHaveLength(1);
      expect(await place.query(HISTORY)).toEqual(history);
    });

    it('treats an empty file or schema as a new warehouse', async () => {
      const place = database.place();
      await place.makeEmpty();
      expect(await readOrganizationIds(await open(place))).toEqual([]);
    });

    it('may be done several times at once', { tags: 'ci/variant' }, async () => {
      const place = database.place();
      const opened = await Promise.all([open(place), open(place), open(place)]);
      await commitDay(opened[0], commitOf({ rows: ROWS }));
      for (const warehouse of opened) expect(await readUnits(warehouse, 'org_1')).toHaveLength(1);
    });

    it('refuses with exit code 2 to create a missing warehouse', async () => {
      const place = database.place();
      const refusal = {
        name: 'NoWarehouseError',
        exitCode: 2,
        message: `there is no warehouse at ${place.location}`,
        reason: 'no-warehouse',
      };
      expect(await thrownBy(open(place, { create: false }))).toMatchObject(refusal);
      // And has not made it by looking for it.
      expect(await thrownBy(open(place, { create: false }))).toMatchObject(refusal);
    });

    it('refuses tables of another program with the same names, and does not change them', async () => {
      const place = database.place();
      await place.makeEmpty();
      await place.execute('CREATE TABLE user_daily (x integer); INSERT INTO user_daily VALUES (7)');
      expect(await thrownBy(open(place))).toMatchObject({
        name: 'UsageError',
        exitCode: 2,
        message: expect.stringContaining('of another program'),
        hint: expect.stringMatching(/\S/),
      });
      expect(await place.query('SELECT x FROM user_daily')).toEqual([{ x: 7 }]);
      expect(await thrownBy(place.query('SELECT COUNT(*) FROM tokens_daily'))).toBeInstanceOf(Error);
    });

    it('refuses the warehouse of a newer version with exit code 2, and does not change it', async () => {
      const warehouse = await open(database);
      const { place } = warehouse;
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      await place.execute(
        'INSERT INTO "__drizzle_migrations" (id, hash, created_at) VALUES (1000, ?, ?)',
        'x',
        Date.UTC(2100, 0, 1),
      );
      const before = await place.query(HISTORY);
      expect(await thrownBy(open(place))).toMatchObject({
        name: 'UsageError',
        exitCode: 2,
        message: expect.stringMatching(/ has version \d+, this program \d+$/),
        hint: expect.stringContaining('update daywalk'),
      });
      expect(await place.query(HISTORY)).toEqual(before);
      expect(await place.query('SELECT COUNT(*) AS n FROM tokens_daily')).toEqual([{ n: 1 }]);
    });
  });

  describe('two organizations', () => {
    it('share one warehouse', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ orgId: 'org_b', rows: ROWS }));
      await commitDay(warehouse, commitOf({ orgId: 'org_a', rows: ROWS }));
      await commitDay(warehouse, commitOf({ orgId: 'org_a', rows: {} }));
      expect(await readOrganizationIds(warehouse)).toEqual(['org_a', 'org_b']);
      expect(await warehouse.place.query('SELECT org_id FROM tokens_daily')).toEqual([{ org_id: 'org_b' }]);
      expect(await readUnits(warehouse, 'org_b')).toMatchObject([
        { orgId: 'org_b', rows: 1, state: 'loaded' },
      ]);
      expect(await warehouse.place.query('SELECT org_id FROM restatements')).toEqual([{ org_id: 'org_a' }]);
    });
  });
});

describe('a location', () => {
  it.each([
    '',
    ':memory:',
    'file:x.db',
    'mysql://host/db',
    'https://example.com/x.db',
    'postgres://',
    'postgres://h/d?schema=pg_x',
  ])('that cannot hold a warehouse is refused with exit code 2: %j', async (location) => {
    const clock = new FakeClock({ auto: true });
    expect(await thrownBy(openWarehouse(location, { clock, create: true }))).toMatchObject({
      name: 'UsageError',
      exitCode: 2,
      hint: expect.stringMatching(/\S/),
    });
  });
});
