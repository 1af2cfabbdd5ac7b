// @module-tag database-specific

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isDistributed, schemaSql } from '../../../schema/reference/sql.ts';
import { allTables, tables } from '../../../schema/tables.ts';
import { allViews } from '../../../schema/views.ts';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { startRun } from '../../../src/records/runs.ts';
import { upsertFrom } from '../../../src/warehouse/postgres/write-rows.ts';
import { daywalk } from '../../support/process/daywalk-process.ts';
import { readSources } from '../../support/structure/sources.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onDatabase, open } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const WITHOUT_ORGANIZATION = ['export_runs', 'organizations', 'identity', 'acts', 'archives', 'dates'];

const script = schemaSql('postgres', 'citus');
const names = allTables.map(({ name }) => name);
const calls = Array.from(
  script.matchAll(/^SELECT (create_\w+)\('(\w+)'(?:, '(\w+)', colocate_with => '(\w+)')?\);$/gm),
  ([, call = '', table = '', column, group]) => ({ call, table, column, group }),
);

/** The requirements of Citus for constraints, as far as they can be checked without Citus. */
describe('the tables, for a database that is distributed by organization', () => {
  it('have keys that begin with org_id, except tables without an organization', () => {
    const others = allTables.filter(({ key }) => key[0] !== 'org_id').map(({ name }) => name);
    expect(others).toEqual(WITHOUT_ORGANIZATION);
    expect(allTables.filter((table) => !isDistributed(table)).map(({ name }) => name)).toEqual(others);
  });

  it('have org_id in every constraint and index that is unique', () => {
    const constraints = Array.from(
      script.matchAll(/CREATE TABLE "(\w+)" \(([\s\S]*?)\n\);/g),
      ([, table = '', body = '']) =>
        Array.from(body.matchAll(/(?:PRIMARY KEY|UNIQUE)\s*\(([^)]*)\)/g), ([, columns = '']) => ({
          table,
          columns,
        })),
    ).flat();
    expect(constraints.map(({ table }) => table).toSorted()).toEqual(names.toSorted());
    const without = constraints.filter(({ columns }) => !columns.startsWith('"org_id"'));
    expect(without.map(({ table }) => table).toSorted()).toEqual(WITHOUT_ORGANIZATION.toSorted());
    expect(script).not.toMatch(/CREATE UNIQUE INDEX/);
  });

  it('have no constraint between rows of different servers', () => {
    expect(script).not.toMatch(
      /REFERENCES|FOREIGN KEY|CREATE TRIGGER|CREATE RULE|EXCLUDE|\bserial\b|GENERATED/i,
    );
  });
});

describe('the statements that PostgreSQL runs', () => {
  const folder = join(import.meta.dirname, '../../../src/warehouse/postgres');
  const sources = readdirSync(folder).map((name) => ({
    name,
    text: readFileSync(join(folder, name), 'utf8'),
  }));
  const steps = readSources()
    .filter(({ path }) => path.startsWith('src/') && !path.startsWith('src/warehouse/sqlite/'))
    .map(({ text }) => text);

  it('never update the distribution column of a row', () => {
    const updates = steps.flatMap((text) => text.match(/UPDATE (?!SET)\S+ SET(?:(?!WHERE)[^`])*/g) ?? []);
    expect(updates.length).toBeGreaterThan(1);
    expect(updates.filter((sql) => /\borg_id"? =/.test(sql))).toEqual([]);
  });

  it('never set the organization of an existing row', () => {
    const distributed = allTables.filter(isDistributed);
    const setting = distributed.filter((table) =>
      upsertFrom({ schema: 'public' }, table, 'SELECT')
        .replace(/^.* DO UPDATE/, '')
        .includes('"org_id" ='),
    );
    expect(setting).toEqual([]);
  });

  it('lock no rows, which is refused across servers', () => {
    expect(sources.filter(({ text }) => /FOR (NO KEY )?(UPDATE|SHARE)\b/.test(text))).toEqual([]);
  });
});

describe('the script', () => {
  it('distributes every table once, all of them together', () => {
    expect(calls.map(({ table }) => table).toSorted()).toEqual(names.toSorted());
    const distributed = calls.filter(({ call }) => call === 'create_distributed_table');
    const [first, ...others] = distributed;
    expect(first).toMatchObject({ column: 'org_id', group: 'none' });
    expect(others.map(({ column, group }) => ({ column, group }))).toEqual(
      others.map(() => ({ column: 'org_id', group: first?.table })),
    );
    const copied = calls.filter((call) => !distributed.includes(call));
    expect(copied.map(({ call, table }) => [call, table])).toEqual(
      WITHOUT_ORGANIZATION.map((table) => ['create_reference_table', table]),
    );
  });

  it('is printed by the command', async () => {
    const { stdout, code } = await daywalk(['schema', '--format', 'sql', '--distributed', 'citus']);
    expect(stdout.trimEnd()).toBe(script.trimEnd());
    expect(code).toBe(0);
  });

  it.each([
    ['--format', 'sql', '--database', 'sqlite', '--distributed', 'citus'],
    ['--format', 'sql', '--distributed', 'sharding'],
    ['--format', 'sql', '--database', 'mysql'],
    ['--distributed', 'citus'],
    ['--format', 'json', '--database', 'postgres'],
  ])('is refused with a hint and exit code 2 for %s %s %s %s %s %s', async (...args) => {
    const { stdout, stderr, code } = await daywalk(['schema', ...args.filter((arg) => arg !== undefined)]);
    expect({ stdout, code }).toEqual({ stdout: '', code: 2 });
    expect(stderr).toMatch(/hint: \S/);
  });
});

/** Functions with the names that the script calls, which record their arguments. */
const STUBS = `
  CREATE TABLE noted (call text, relation regclass, distribution_column text, colocate_with text);
  CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text, colocate_with text)
    RETURNS void LANGUAGE sql AS $$ INSERT INTO noted VALUES ('distributed', table_name, $2, $3) $$;
  CREATE FUNCTION create_reference_table(table_name regclass)
    RETURNS void LANGUAGE sql AS $$ INSERT INTO noted VALUES ('reference', table_name, NULL, NULL) $$;`;

onDatabase(postgres, () => {
  it('creates a warehouse that this version accepts', async () => {
    const place = postgres.place();
    await place.makeEmpty();
    await place.execute(STUBS);
    await place.execute(script);
    const noted = await place.query('SELECT relation::text AS name FROM noted');
    expect(noted.map(({ name }) => String(name)).toSorted()).toEqual(names.toSorted());
    for (const { name } of allViews) await place.query(`SELECT * FROM "${name}"`);
    const warehouse = await open(place, { create: false });
    await commitDay(warehouse, commitOf({ rows: { tokens_daily: [[1, 2, 3, 4, 5, null]] } }));
    expect(await readOrganizationIds(warehouse)).toEqual(['org_1']);
  });

  it('is followed by deletions in several organizations, each in its own', async () => {
    const { userDailyLanguages: table, exportRuns: runs } = tables;
    const row = (org: string, language: string) => [org, '2026-02-01', 'u1', language, null];
    const warehouse = await open(postgres);
    const rows = ['a', 'b', 'c'].flatMap((org) => [row(org, 'sql'), row(org, 'go')]);
    await changeRows(warehouse, { put: [{ table, rows }], remove: [] });
    const gone = [row('a', 'sql'), row('b', 'go'), row('b', 'sql'), row('c', 'never')];
    expect(await changeRows(warehouse, { put: [], remove: [{ table, rows: gone }] })).toBe(3);
    const left = [];
    for await (const some of warehouse.scan(table)) left.push(...some);
    expect(left).toEqual([row('a', 'go'), row('c', 'go'), row('c', 'sql')]);

    await startRun(warehouse, { runId: 'r1', command: 'run', startedAt: new Date(0), versions: {} });
    const keyOnly = (id: string) => Object.keys(runs.columns).map((name) => (name === 'run_id' ? id : null));
    expect(
      await changeRows(warehouse, {
        put: [],
        remove: [{ table: runs, rows: [keyOnly('r1'), keyOnly('r2')] }],
      }),
    ).toBe(1);
  });
});
