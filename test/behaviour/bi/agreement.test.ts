// @module-tag ci/variant

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { overBudget } from '../../../src/bi/grafana/checks.ts';
import { sqlTarget } from '../../../src/bi/sql.ts';
import { writeBi } from '../../../src/bi/targets.ts';
import { checkBudgets, isOver } from '../../../src/csv-files/budget-check.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { dashboardNumbers } from '../../support/bi/dashboard-numbers.ts';
import { DATASETTE, NO_DATASETTE, serveDatasette } from '../../support/bi/datasette.ts';
import { readMetadata } from '../../support/bi/datasette-metadata.ts';
import { DBT, dbt, NO_DBT } from '../../support/bi/dbt.ts';
import { dbtPlaces } from '../../support/bi/dbt-project.ts';
import { useDemo } from '../../support/bi/demo.ts';
import { isClose } from '../../support/bi/equal-rows.ts';
import { dashboardsOf, readDashboards } from '../../support/bi/grafana.ts';
import { grafanaNumbers, grafanaRows } from '../../support/bi/grafana-numbers.ts';
import { metricflowNumbers } from '../../support/bi/metricflow.ts';
import { COMPARED, isOfOneDay, type NumberSource, OCTOBER } from '../../support/bi/october.ts';
import { octoberOf, sqlNumbers } from '../../support/bi/sql-numbers.ts';
import { Collector } from '../../support/metrics/collector.ts';
import { publishFrom } from '../../support/publish/publish-from.ts';

/** The cut in which tools give the number of October, see `octoberOf`. */
const grainOf = (metric: string) => (isOfOneDay(metric) ? 'date' : 'month');

describe('twenty metrics of the demo are equal in every tool', () => {
  const demo = useDemo();

  /** Compares a source with `daywalk metric`. */
  async function expectAgreement(source: NumberSource): Promise<void> {
    const { orgId, with: use } = demo();
    const wrong = await use(async (warehouse) => {
      const differences: string[] = [];
      for (const metric of COMPARED) {
        if (source.leftOut?.includes(metric)) continue;
        const period = isOfOneDay(metric) ? { from: OCTOBER.until, until: OCTOBER.until } : OCTOBER;
        const { rows } = await answerMetric(warehouse, { metric, orgId, by: [], ...period });
        const expected = rows[0]?.value;
        const found = await source.valueIn(metric);
        if (typeof expected !== 'number') differences.push(`daywalk metric ${metric} has no value`);
        if (!isClose(found, expected)) {
          differences.push(`${metric}: ${source.name} has ${found}, daywalk metric ${expected}`);
        }
      }
      return differences;
    });
    expect(wrong).toEqual([]);
  }

  test('there are twenty', () => {
    expect(new Set(COMPARED).size).toBe(20);
  });

  test('the dashboard', { tags: 'ci/again' }, async () => {
    const { orgId, with: use } = demo();
    await use(async (warehouse) => {
      await expectAgreement(await dashboardNumbers(warehouse, orgId));
    });
  });

  test('the files of daywalk bi sql', async () => {
    const files = new Map(sqlTarget.files().map(({ path, text }) => [path, text]));
    await demo().with((warehouse) =>
      expectAgreement(
        sqlNumbers(
          'sql',
          warehouse,
          (metric) => files.get(`sqlite/by-${grainOf(metric)}/${metric}.sql`) ?? '',
        ),
      ),
    );
  });

  test.for(dbtPlaces)(
    'MetricFlow with the package for dbt, over $name',
    { timeout: 240_000 },
    async ({ name, missing, make }, { skip }) => {
      if (DBT === null) return skip(NO_DBT);
      if (missing !== null) return skip(missing);
      const { path, folder } = demo();
      const project = await make(path, folder);
      try {
        const ran = await dbt(project, ['run']);
        expect(ran.output).toMatch(/Completed successfully/);
        const numbers = await metricflowNumbers(`MetricFlow over ${name}`, project);
        // What the page says about the metrics that it does not have: docs/bi/dbt.md.
        expect(numbers.leftOut).toEqual(['inactive_users']);
        await expectAgreement(numbers);
      } finally {
        await project.remove();
      }
    },
  );

  test('the panels of the dashboards that daywalk bi grafana writes', async () => {
    const { folder, with: use } = demo();
    const directory = join(folder, 'grafana');
    await writeBi({ target: 'grafana', directory });
    await use((warehouse) =>
      expectAgreement(
        grafanaNumbers(warehouse, 'sqlite', readDashboards(join(directory, 'sqlite/dashboards'))),
      ),
    );
  });

  test('the queries of Datasette, served by Datasette', async ({ skip }) => {
    if (DATASETTE === null) return skip(NO_DATASETTE);
    const { folder, with: use } = demo();
    const directory = join(folder, 'datasette');
    await writeBi({ target: 'datasette', directory });
    const [database, metadata] = [join(directory, 'daywalk.db'), join(directory, 'metadata.json')];
    await use(({ location }) => publishFrom(location, { sqlite: database }));
    const { queries } = readMetadata(metadata).databases.daywalk;
    const server = await serveDatasette(DATASETTE, { database, metadata });
    try {
      await expectAgreement({
        name: 'Datasette',
        valueIn: async (metric) => {
          const name = `${metric}_by_${grainOf(metric)}`;
          expect(Object.keys(queries)).toContain(name);
          const days = `first_day=${OCTOBER.from}&last_day=${OCTOBER.until}`;
          const response = await fetch(`${server.url}/daywalk/${name}.json?_shape=array&${days}`);
          return octoberOf(metric, (await response.json()) as Record<string, unknown>[]);
        },
      });
    } finally {
      await server.close();
    }
  }, 60_000);

  test('Grafana counts the teams over budget that daywalk budget check names', async () => {
    const { orgId, with: use } = demo();
    await use(async (warehouse) => {
      const rows = new Collector(orgId);
      const teams = await warehouse.select(
        sql`SELECT month, team, currency, cost_so_far, cost_forecast FROM month_forecast
          WHERE month = (SELECT MAX(month) FROM month_forecast) ORDER BY team`,
      );
      for (const [index, row] of teams.entries()) {
        const [used, expected] = [Number(row['cost_so_far']), Number(row['cost_forecast'])];
        const amount = [used * 0.9, (used + expected) / 2, expected * 2][index % 3] ?? 0;
        rows.add(tables.budgets, { ...row, amount, ...(index === 0 && { currency: 'USD' }) });
      }
      await changeRows(warehouse, { put: rows.all(), remove: [] });
      const check = await warehouse.inSnapshot(() => checkBudgets(warehouse, orgId, undefined));
      const states = new Set(check.teams.map(({ status }) => status));
      expect(states).toEqual(new Set(['other currency', 'over budget', 'forecast over budget', 'ok']));
      const over = check.teams.filter(({ status }) => isOver(status)).length;
      expect(await grafanaRows(warehouse, 'sqlite', dashboardsOf('sqlite'), overBudget.title)).toEqual([
        { value: over },
      ]);
      const title = 'Forecast and budget of the newest month';
      const shown = await grafanaRows(warehouse, 'sqlite', dashboardsOf('sqlite'), title);
      expect(shown.map(({ team, budget, budget_currency }) => [team, budget, budget_currency])).toEqual(
        check.teams.map(({ team, budget, currency }) => [team, budget, currency]),
      );
    });
  });
});
