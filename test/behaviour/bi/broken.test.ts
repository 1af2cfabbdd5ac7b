import { expect, test } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { cannedQueries } from '../../../src/bi/datasette.ts';
import { metricSql } from '../../../src/bi/dictionary.ts';
import { dataSources } from '../../../src/bi/grafana/data-source.ts';
import { line } from '../../../src/bi/grafana/panel.ts';
import { sqlTarget } from '../../../src/bi/sql.ts';
import { messageOf } from '../../../src/core/errors.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { everySql } from '../../support/bi/grafana.ts';
import { expandAlertSql, expandPanelSql } from '../../support/bi/grafana-macros.ts';
import { fillWarehouse } from '../../support/metrics/small-warehouse.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

/** Every statement that the targets write for a database, by its file or name. */
function statementsFor(dialect: 'sqlite' | 'postgres'): ReadonlyMap<string, string> {
  const files = sqlTarget.files().filter(({ path }) => path.startsWith(`${dialect}/`));
  const queries = dialect === 'sqlite' ? Object.entries(cannedQueries()) : [];
  return new Map([
    ...files.map(({ path, text }) => [path, text] as const),
    ...queries.map(([name, query]) => [`datasette ${name}`, withoutParameters(query.sql)] as const),
    ...everySql(dialect).map(({ place, sql: text, isAlert }) => {
      const expanded = isAlert
        ? expandAlertSql(dialect, text, RANGE)
        : expandPanelSql(dialect, text, { range: RANGE, organization: '' });
      return [`grafana ${place}`, expanded] as const;
    }),
  ]);
}

/** The days of the small warehouse. */
const RANGE = { from: new Date('2026-02-01T00:00:00Z'), to: new Date('2026-02-09T00:00:00Z') };

/** As Datasette runs a query whose parameters are not given. */
const withoutParameters = (text: string) => text.replaceAll(/:(organization|first_day|last_day)\b/g, "''");

/** The statements that fail, with the reasons. */
async function failuresOf(
  warehouse: Pick<Warehouse, 'select'>,
  statements: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const failures = new Map<string, string>();
  for (const [name, text] of statements) {
    await warehouse.select(sql.raw(text)).catch((error: unknown) => failures.set(name, messageOf(error)));
  }
  return failures;
}

onEachDatabase((database) => {
  const dialect = database.name === 'SQLite' ? 'sqlite' : 'postgres';
  const statements = statementsFor(dialect);

  test('in a whole warehouse no statement fails', { tags: 'ci/again' }, async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse);
    expect(await failuresOf(warehouse, statements)).toEqual(new Map());
  });

  test('a dropped column makes the statements fail that read it, and they name it', {
    tags: 'ci/rare',
  }, async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse);
    await warehouse.place.execute('ALTER TABLE tools_daily DROP COLUMN autonomy_ratio_p90');
    const failures = await failuresOf(warehouse, statements);
    expect(failures.get(`${dialect}/by-date/published_autonomy_ratio_p90.sql`)).toMatch(/autonomy_ratio_p90/);
    expect([...failures.keys()].filter((name) => !name.includes('published_autonomy_ratio_p90'))).toEqual([]);
  });

  test('a dropped column makes the panel of Grafana fail that reads it', { tags: 'ci/rare' }, async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse);
    await warehouse.place.execute('ALTER TABLE export_runs DROP COLUMN rows_written');
    const failures = await failuresOf(warehouse, statements);
    const panel = `grafana daywalk-${dialect}-health: Last runs`;
    expect([...failures.keys()]).toEqual([panel]);
    expect(failures.get(panel)).toMatch(/rows_written/);
  });

  test('a renamed view makes the statements fail that read it, and they name it', {
    tags: 'ci/rare',
  }, async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse);
    // SQLite cannot rename a view.
    await warehouse.place.execute('CREATE VIEW failing AS SELECT * FROM failing_criteria');
    await warehouse.place.execute(
      dialect === 'sqlite'
        ? 'DROP VIEW failing_criteria'
        : 'ALTER VIEW failing_criteria RENAME TO criteria_that_fail',
    );
    const failures = await failuresOf(warehouse, statements);
    const question = [...failures.keys()].find((path) => path.endsWith('-failing-criteria.sql')) ?? '';
    expect(failures.get(question)).toMatch(/failing_criteria/);
    const panel = `grafana daywalk-${dialect}-readiness: Criteria that most repositories fail`;
    expect(failures.get(panel)).toMatch(/failing_criteria/);
  });

  test('a misspelt column of a metric makes its statements fail', async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse);
    const path = `${dialect}/by-month/git_commits.sql`;
    const misspelt = (statements.get(path) ?? '').replaceAll('SUM(r.git_commits)', 'SUM(r.git_comits)');
    const failures = await failuresOf(warehouse, new Map([[path, misspelt]]));
    expect(failures.get(path)).toMatch(/git_comits/);
  });
});

test('a misspelt metric is refused before anything is written', () => {
  const refusal = /there is no metric "git_comits"/;
  expect(() => metricSql('sqlite', { metric: 'git_comits', by: ['month'] })).toThrow(refusal);
  for (const source of dataSources) expect(() => line('git_comits', 'week')(source)).toThrow(refusal);
});
