import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dimensionsOf } from '../../../schema/metrics/define.ts';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { publishedTables } from '../../../schema/tables.ts';
import { allViews } from '../../../schema/views.ts';
import { LEFT_OUT } from '../../../src/bi/dbt/semantic.ts';
import { dbtTarget } from '../../../src/bi/dbt/target.ts';
import { DBT, dbt, NO_DBT, run } from '../../support/bi/dbt.ts';
import { dbtPlaces, type HeldProject } from '../../support/bi/dbt-project.ts';
import { type Demo, useDemo } from '../../support/bi/demo.ts';
import { flowDifferences, flowQuestions } from '../../support/bi/flow-differences.ts';
import { askMetricflow } from '../../support/bi/metricflow.ts';

test('every metric of the dictionary is in the package, or left out with a reason', () => {
  const files = new Map(dbtTarget.files().map(({ path, text }) => [path, text]));
  const metrics = files.get('models/semantic/metrics.yml') ?? '';
  const names = [...metrics.matchAll(/^ {2}- name: (\w+)$/gm)].map(([, name]) => name);
  expect(new Set(names).size).toBe(names.length);
  const known = allMetrics.map(({ name }) => name);
  expect(known.filter((name) => !names.includes(name))).toEqual(Object.keys(LEFT_OUT));
  for (const name of Object.keys(LEFT_OUT)) expect(files.get('README.md')).toContain(`- \`${name}\`: `);
  for (const { name } of [...publishedTables, ...allViews]) {
    expect(files.get('models/sources.yml')).toContain(`      - name: ${name}\n`);
  }
});

const runnable = dbtPlaces.filter(({ missing }) => DBT !== null && missing === null);

/** The demo of both places; it takes time that a run without dbt need not spend. */
const demo = runnable.length === 0 ? undefined : useDemo();

function madeDemo(): Demo {
  if (demo === undefined) throw new Error('the demo is made only with dbt');
  return demo();
}

describe.each(runnable)('the real dbt over $name', ({ make }) => {
  let project: HeldProject;
  beforeAll(async () => {
    const { path, folder } = madeDemo();
    project = await make(path, folder);
  });
  afterAll(() => project?.remove());

  const artifact = (name: string) =>
    JSON.parse(readFileSync(join(project.directory, 'target', name), 'utf8'));

  test('parses the package without a warning, builds every model, and every test passes', async () => {
    const parsed = await dbt(project, ['parse']);
    expect(parsed.output).not.toMatch(/warn|deprecat|error/i);
    await dbt(project, ['build']);
    const results: { unique_id: string; status: string }[] = artifact('run_results.json').results;
    const bad = results.filter(({ status }) => !['success', 'pass'].includes(status));
    expect(bad.map(({ unique_id, status }) => `${unique_id}: ${status}`)).toEqual([]);
    const kinds = results.map(({ unique_id }) => unique_id.split('.')[0]);
    expect(kinds.filter((kind) => kind === 'model')).toHaveLength(publishedTables.length + 5);
    expect(kinds.filter((kind) => kind === 'test').length).toBeGreaterThan(150);
  }, 240_000);

  test('has semantic models that MetricFlow finds valid, also against the rows', async () => {
    // The manifest is that of the build: a check of an old one would pass.
    const { output } = await run(project, 'mf', ['validate-configs']);
    expect(output).not.toMatch(/failed|exception|traceback/i);
    expect(
      output.match(/Successfully validated .*\(ERRORS: 0, FUTURE_ERRORS: 0, WARNINGS: 0\)/g),
    ).toHaveLength(6);
  }, 120_000);

  test('has the numbers of daywalk metric, for every metric in total and by each dimension', async () => {
    const questions = flowQuestions();
    const answers = await askMetricflow(project, questions);
    const { orgId, with: use } = madeDemo();
    const differences = await use((warehouse) => flowDifferences({ warehouse, orgId, questions, answers }));
    expect(differences.wrong).toEqual([]);
    const cuts = allMetrics
      .filter(({ name }) => LEFT_OUT[name] === undefined)
      .flatMap((metric) => (metric.measure.kind === 'snapshot' ? ['date'] : ['', ...dimensionsOf(metric)]));
    expect(differences.compared).toBe(cuts.length);
  }, 240_000);

  test('reports an export that has stopped as stale', async ({ skip }) => {
    const stale = ['error'];
    const statuses = async () => {
      await dbt(project, ['source', 'freshness']);
      const found: { unique_id: string; status: string }[] = artifact('sources.json').results;
      return Object.fromEntries(found.map(({ unique_id, status }) => [unique_id.split('.')[3], status]));
    };
    // The demo ends in the past.
    const before = await statuses();
    expect(Object.keys(before)).toHaveLength(6);
    expect([...new Set(Object.values(before))]).toEqual(stale);
    if (project.execute === undefined) return skip('a lake is published again, not written to');
    await project.execute(`
      UPDATE export_units SET last_pulled_at = now() - interval '2 hours';
      UPDATE export_runs SET started_at = now() - interval '3 hours'`);
    for (const table of ['tokens_daily', 'tools_daily', 'activity_daily', 'productivity_daily']) {
      await project.execute(
        `INSERT INTO ${table} (org_id, date) SELECT org_id, current_date - 1 FROM ${table} LIMIT 1`,
      );
    }
    expect([...new Set(Object.values(await statuses()))]).toEqual(['pass']);
    await project.execute(`UPDATE export_units SET last_pulled_at = now() - interval '40 hours'`);
    expect(await statuses()).toMatchObject({ export_units: 'warn', export_runs: 'pass' });
  }, 120_000);
});

if (DBT === null) {
  test('the real dbt builds what daywalk bi dbt writes', ({ skip }) => skip(NO_DBT));
}
