import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../schema/define.ts';
import { schemaMarkdown } from '../../../schema/reference/documentation.ts';
import { exampleQueries } from '../../../schema/reference/examples.ts';
import { schemaSql } from '../../../schema/reference/sql.ts';
import { allTables } from '../../../schema/tables.ts';
import { allViews } from '../../../schema/views.ts';
import { dotenvExample } from '../../../scripts/settings-page.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { createRig } from '../../support/rig/rig.ts';

const file = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

test('.env.example matches the declarations', () => {
  expect(file('.env.example'), 'run npm run docs').toBe(dotenvExample());
});

describe('daywalk schema', () => {
  test('prints docs/warehouse.md, which therefore matches the declarations', async () => {
    expect((await daywalkInProcess(['schema'])).stdout.trimEnd(), 'run npm run docs').toBe(
      file('docs/warehouse.md').trimEnd(),
    );
  });

  test('as JSON lists every column of every table and view, and marks those that must not be summed', async () => {
    const { stdout } = await daywalkInProcess(['schema', '--format', 'json']);
    const document: { tables: Part[]; views: Part[] } = JSON.parse(stdout);
    interface Part {
      name: string;
      columns: { name: string; additive: boolean | null }[];
    }
    const byName = (entries: [string, string[]][]) => Object.fromEntries(entries);
    const names = (parts: Part[]) =>
      byName(parts.map(({ name, columns }) => [name, columns.map((column) => column.name)]));
    const declared = (parts: readonly { name: string; columns: object }[]) =>
      byName(parts.map(({ name, columns }) => [name, Object.keys(columns)]));
    expect(names(document.tables)).toEqual(declared(allTables));
    expect(names(document.views)).toEqual(declared(allViews));

    const additive = (table: string, column: string) =>
      document.tables.find(({ name }) => name === table)?.columns.find(({ name }) => name === column)
        ?.additive;
    expect(additive('activity_daily', 'weekly_active_users')).toBe(false);
    expect(additive('activity_daily_by_client', 'daily_active_users')).toBe(false);
    expect(additive('tools_daily', 'autonomy_ratio_p90')).toBe(false);
    expect(additive('activity_daily', 'sessions')).toBe(true);
    expect(additive('tokens_daily', 'org_id')).toBeNull();
  });

  test('as SQL creates the same database as a run does', async () => {
    const rig = await createRig();
    await rig.run({ streams: ['tokens'] });
    const made = new Sqlite(':memory:').exec((await daywalkInProcess(['schema', '--format', 'sql'])).stdout);
    const query =
      "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_\\_%' ESCAPE '\\' ORDER BY name";
    expect(made.prepare(query).pluck().all()).toEqual(await rig.column(query));
    made.close();
  });

  test('marks in the page exactly the columns that must not be summed', () => {
    const page = schemaMarkdown();
    const marked = page.match(/\*\*Do not sum\.\*\*/g)?.length;
    const declared = [...allTables, ...allViews].flatMap(({ columns }) => Object.values(columns));
    expect(marked).toBe(declared.filter(({ additive }) => additive === false).length);
    expect(page).toMatch(/\| `weekly_active_users` \|.*\*\*Do not sum\.\*\* \|/);
    expect(page).not.toMatch(/\| `billable_tokens` \|.*Do not sum/);
  });

  test('states the types that the migrations use', () => {
    const database = new Sqlite(':memory:').exec(schemaSql());
    for (const { name, columns } of allTables) {
      const types = database
        .prepare<[], { name: string; type: string }>(`PRAGMA table_info("${name}")`)
        .all();
      const documented = Object.entries(columns).map(([column, { kind }]) => ({
        name: column,
        type: KINDS[kind].sqlite,
      }));
      expect(types.map((column) => ({ name: column.name, type: column.type.toUpperCase() }))).toEqual(
        documented,
      );
    }
    database.close();
  });
});

test('every example query returns rows on a real warehouse', async () => {
  const rig = await exportedRig();
  const answers = await Promise.all(
    Object.entries(exampleQueries).map(async ([name, { sql }]) => [name, (await rig.sql(sql)).length > 0]),
  );
  // Nobody is inactive, nothing is missing, nothing was restated, and nobody has a budget in this warehouse.
  expect(Object.fromEntries(answers)).toEqual({
    ...Object.fromEntries(Object.keys(exampleQueries).map((name) => [name, true])),
    inactive: false,
    budgets: false,
    restated: false,
    holes: expect.any(Boolean),
  });
});
