// @module-tag database-specific

import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../schema/define.ts';
import type { Values } from '../../../schema/row.ts';
import { allTables, tables } from '../../../schema/tables.ts';
import { allViews } from '../../../schema/views.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onDatabase, onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** Whole numbers that do not divide each other, one that no 32-bit integer holds, and the largest exact one. */
const ACTIVITY = [9, 12, 20, 23, 2 ** 53, 2 ** 40, null];

onEachDatabase((database) => {
  describe('a quotient of whole numbers', () => {
    test('is a fraction, and the numbers are returned as published', async () => {
      const warehouse = await open(database);
      const unit = { stream: 'activity', day: '2026-02-01' } as const;
      await commitDay(warehouse, commitOf({ ...unit, rows: { activity_daily: [ACTIVITY] } }));
      expect(
        await warehouse.place.query('SELECT sessions / daily_active_users AS ratio FROM activity_daily'),
      ).toEqual([{ ratio: 23 / 9 }]);
      const stored: Values[] = [];
      for await (const rows of warehouse.scan(tables.activityDaily)) stored.push(...rows);
      expect(stored).toEqual([['org_1', unit.day, ...ACTIVITY]]);
    });
  });
});

onDatabase(sqlite, () => {
  test('every column of a view has its documented type', async () => {
    const { place } = await open(sqlite);
    const relations = await place.relations();
    for (const { name, columns } of allViews) {
      const stored = relations.find((relation) => relation.name === name)?.columns ?? [];
      // SQLite says INT for an expression that is an integer.
      const types = stored.map((column) => [
        column.name,
        column.type.toUpperCase().replace(/^INT$/, 'INTEGER'),
      ]);
      const documented = Object.entries(columns).map(([column, { kind }]) => [column, KINDS[kind].sqlite]);
      expect(types, name).toEqual(documented);
    }
  });
});

onDatabase(postgres, () => {
  test('every table, view and column carries its description, with "do not sum" where that holds', async () => {
    const { place } = await open(postgres);
    const found = await place.query<{ relation: string; name: string | null; comment: string | null }>(
      `SELECT c.relname AS relation, a.attname AS name,
         CASE WHEN a.attname IS NULL THEN obj_description(c.oid, 'pg_class') ELSE col_description(c.oid, a.attnum) END AS comment
       FROM pg_catalog.pg_class c
       LEFT JOIN LATERAL (
         SELECT attname, attnum FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attnum > 0
         UNION ALL SELECT NULL, NULL) a ON true
       WHERE c.relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = current_schema()) AND c.relkind IN ('r', 'v') AND c.relname NOT LIKE '\\_\\_%'`,
    );
    const comments = new Map(
      found.map(({ relation, name, comment }) => [`${relation}.${name ?? ''}`, comment]),
    );
    for (const { name, doc, columns } of [...allTables, ...allViews]) {
      expect(comments.get(`${name}.`), name).toBe(doc);
      for (const [column, spec] of Object.entries(columns)) {
        const comment = comments.get(`${name}.${column}`) ?? '';
        expect(comment, `${name}.${column}`).toContain(spec.doc);
        expect(/do not sum/i.test(comment), `${name}.${column}`).toBe(spec.additive === false);
      }
    }
  });
});
