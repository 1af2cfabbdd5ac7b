// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { encoderOf, type Values } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { storeHookEvents } from '../../../src/records/hook-events.ts';
import { postgresProxy } from '../../support/postgres/proxy.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { EVENT } from '../../support/warehouse/hook-event-row.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

/** The result of `INSERT … SELECT … ON CONFLICT` on Citus: the number of sent rows, not of written ones. */
const SENT = 'INSERT 0 2986';

/** A warehouse behind a server that says so of every INSERT, and how often it did. */
async function behindCounter(place: Place = postgres.place()) {
  let said = 0;
  const proxy = await postgresProxy(place.location, {
    tag: (tag) => {
      if (!tag.startsWith('INSERT ')) return tag;
      said += 1;
      return SENT;
    },
  });
  return { warehouse: await open({ ...place, location: proxy.url }), place, said: () => said };
}

const model = (id: string, billable: number): Values => [id, null, billable, 1, 1, 1, 1, null];
onDatabase(postgres, () => {
  describe('a server that counts all sent rows as written', () => {
    it.each([3, 1000])(
      'does not change the reported number of written rows for %i rows',
      { tags: 'ci/variant' },
      async (count) => {
        needsSessions(postgres);
        const { warehouse, said } = await behindCounter();
        const models = Array.from({ length: count }, (_, n) => model(`m ${n}`, n));
        const commit = (rows: readonly Values[]) =>
          commitDay(warehouse, commitOf({ rows: { tokens_daily_by_model: rows }, rewrite: true }));
        expect(await commit(models)).toMatchObject({ rowsWritten: count });
        expect(await commit(models)).toMatchObject({ rowsWritten: 0 });
        expect(await commit([...models.slice(1), model('m 0', 7)])).toMatchObject({ rowsWritten: 1 });
        expect(said()).toBeGreaterThan(0);
      },
    );

    it('does not lose one of two restatements with the same timestamp', { tags: 'ci/rare' }, async () => {
      needsSessions(postgres);
      const { warehouse, place } = await behindCounter();
      for (const billable of [1, 2, 3]) {
        await commitDay(warehouse, commitOf({ rows: { tokens_daily_by_model: [model('a', billable)] } }));
      }
      expect(await place.query('SELECT detected_at FROM restatements ORDER BY 1')).toEqual([
        { detected_at: '2026-02-02T03:00:00.000Z' },
        { detected_at: '2026-02-02T03:00:00.001Z' },
      ]);
    });

    it('does not change the reported number of written hook events and of unchanged rows', async () => {
      needsSessions(postgres);
      const { warehouse } = await behindCounter();
      expect(await storeHookEvents(warehouse, { orgId: 'org_1', rows: [EVENT] })).toBe(1);
      expect(await storeHookEvents(warehouse, { orgId: 'org_1', rows: [EVENT] })).toBe(0);
      const put = [
        { table: tables.hookEvents, rows: [encoderOf(tables.hookEvents)({ org_id: 'org_1', ...EVENT })] },
      ];
      expect(await changeRows(warehouse, { put, remove: [] })).toBe(0);
    });
  });
});
