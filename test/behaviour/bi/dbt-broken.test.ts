import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { DBT, dbt, NO_DBT, run } from '../../support/bi/dbt.ts';
import { dbtPlaces, type HeldProject } from '../../support/bi/dbt-project.ts';
import { askMetricflow, numberIn } from '../../support/bi/metricflow.ts';
import { fillWarehouse } from '../../support/metrics/small-warehouse.ts';
import { leftOut } from '../../support/suite/left-out.ts';
import { scratchFolder } from '../../support/suite/scratch-folder.ts';

const place = dbtPlaces.find(({ name }) => name === 'PostgreSQL');
const missing = DBT === null ? NO_DBT : (place?.missing ?? null);

describe('the checks of dbt and MetricFlow, on PostgreSQL', leftOut(missing), () => {
  let folder: string;
  let project: HeldProject;
  const execute = (sql: string) => project.execute?.(sql) ?? Promise.reject(new Error('no SQL'));

  beforeAll(async () => {
    folder = mkdtempSync(join(scratchFolder(), 'daywalk-dbt-'));
    const path = join(folder, 'small.db');
    const warehouse = await openWarehouse(path, { clock: systemClock(), create: true });
    await fillWarehouse(warehouse);
    await warehouse.close();
    if (place === undefined) throw new Error('there is no such place');
    project = await place.make(path, folder);
    expect((await dbt(project, ['run'])).output).toMatch(/Completed successfully/);
  });
  afterAll(async () => {
    await project?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The names of the nodes of a command that did not succeed, with their messages. */
  async function failuresOf(command: readonly string[]): Promise<Readonly<Record<string, string>>> {
    await dbt(project, command);
    const results: { unique_id: string; status: string; message: string }[] = JSON.parse(
      readFileSync(join(project.directory, 'target/run_results.json'), 'utf8'),
    ).results;
    expect(results.length).toBeGreaterThan(0);
    return Object.fromEntries(
      results
        .filter(({ status }) => !['success', 'pass'].includes(status))
        .map(({ unique_id, message }) => [unique_id.split('.')[2] ?? '', message]),
    );
  }

  /** Puts a text in place of another one in a file of the package, while `check` runs. */
  async function withChange(file: string, change: (text: string) => string, check: () => Promise<void>) {
    const path = join(project.directory, file);
    const text = readFileSync(path, 'utf8');
    expect(change(text)).not.toBe(text);
    writeFileSync(path, change(text));
    try {
      await check();
    } finally {
      writeFileSync(path, text);
    }
  }

  test('a misspelt metric is refused by the query, and named', async () => {
    const { output } = await run(project, 'mf', ['query', '--metrics', 'git_comits']);
    expect(output).not.toMatch(/query completed/);
    expect(output).toMatch(/git_comits/);
    expect(output).toMatch(/'?git_commits'?/);
  }, 120_000);

  test('a metric of a misspelt measure is refused by dbt parse', async () => {
    const misspell = (text: string) => text.replace('measure: git_commits', 'measure: git_comits');
    await withChange('models/semantic/metrics.yml', misspell, async () => {
      const { output } = await dbt(project, ['parse']);
      expect(output).toMatch(/git_comits/);
      expect(output).toMatch(/validation failed|Parsing Error/);
    });
  }, 120_000);

  test('a renamed view is found by mf validate-configs', async () => {
    await dbt(project, ['parse']);
    await execute('ALTER VIEW daywalk_dbt.stg_daywalk__tokens_daily RENAME TO tokens');
    const { output } = await run(project, 'mf', ['validate-configs']);
    await execute('ALTER VIEW daywalk_dbt.tokens RENAME TO stg_daywalk__tokens_daily');
    expect(output).toMatch(/stg_daywalk__tokens_daily/);
    expect(output).toMatch(/ERRORS: [1-9]/);
  }, 120_000);

  test('nobody is new once people of a day have expired, who may have been active before', async () => {
    const newUsers = async () => {
      await dbt(project, ['run', '--select', 'stg_daywalk__export_units', 'daywalk_user_days']);
      const [rows] = await askMetricflow(project, [{ metrics: ['new_users'] }]);
      return rows?.map((row) => numberIn(row['new_users']));
    };
    const firstDay =
      "stream = 'users' AND date = (SELECT MIN(date) FROM export_units WHERE stream = 'users')";
    expect(await newUsers()).toEqual([expect.any(Number)]);
    await execute(`UPDATE export_units SET state = 'expired' WHERE ${firstDay}`);
    expect(await newUsers()).toEqual([null]);
    await execute(`UPDATE export_units SET state = 'loaded' WHERE ${firstDay}`);
  }, 120_000);

  test('rows that the tests of the package forbid make these tests fail', async () => {
    await execute(`
      ALTER TABLE user_daily DROP CONSTRAINT user_daily_key;
      INSERT INTO user_daily SELECT * FROM user_daily LIMIT 1;
      INSERT INTO tokens_daily (org_id, date) VALUES ('org_1', '2026-02-02');
      UPDATE export_units SET state = 'lost' WHERE date = '2026-02-03';
      ALTER TABLE people DROP CONSTRAINT people_key, ALTER person DROP NOT NULL;
      INSERT INTO people (org_id, person, valid_from) VALUES ('org_1', NULL, '2026-02-02');
      UPDATE user_daily SET messages = 3, user_messages = 4;
      INSERT INTO activity_daily (org_id, date, daily_active_users) VALUES ('org_1', '2026-02-03', 1);
      INSERT INTO activity_daily_by_client (org_id, date, client, daily_active_users)
        VALUES ('org_1', '2026-02-03', 'web', 2);
      INSERT INTO tools_daily (org_id, date, tool_calls, autonomy_auto_high)
        VALUES ('org_1', '2026-02-03', -1, 55)`);
    const messages = await failuresOf(['test']);
    const failures = Object.keys(messages);
    const kinds = [
      ...['unique_key_daywalk_user_daily', 'tokens_daily_belongs_to', 'accepted_values', 'not_null'],
      'user_daily_user_messages_at_most_messages',
      'activity_daily_by_client_daily_active_users_at_most_daily_active_users',
      'tools_daily_at_least_0',
    ];
    const found = kinds.filter((kind) => failures.some((name) => name.includes(kind)));
    expect(failures.join()).toMatch(/export_units_state/);
    expect(found, failures.join('\n')).toEqual(kinds);
    // A value outside its usual range is only a warning.
    expect(messages['tools_daily_at_most_1_usually']).toMatch(/configured to warn/);
  }, 120_000);

  test('a dropped column makes dbt build fail, and the message names it', async () => {
    await execute('ALTER TABLE tools_daily DROP COLUMN autonomy_ratio_p90 CASCADE');
    const failures = await failuresOf(['build', '--select', 'stg_daywalk__tools_daily+']);
    expect(failures['stg_daywalk__tools_daily']).toMatch(/autonomy_ratio_p90/);
  }, 120_000);
});
