import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { askableMetrics } from '../../../schema/metrics/dictionary.ts';
import { fillWarehouse, HOSTILE, WEEK } from '../../support/metrics/small-warehouse.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const [FIRST = '', , , MISSING, OPEN, , LAST = ''] = WEEK;
const PERIOD = ['--from', FIRST, '--until', LAST];

/** Runs `daywalk metric` on a warehouse. */
function ask({ place }: Held, ...args: string[]) {
  return daywalkInProcess(['metric', ...args], { env: { DAYWALK_WAREHOUSE: place.location } });
}

onEachDatabase((database) => {
  it('prints JSON of the fixed shape, with the days that are not settled and those that are missing', async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse);
    const { code, stdout } = await ask(warehouse, 'sessions', '--by', 'week,team', ...PERIOD, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      metric: 'sessions',
      org_id: 'org_1',
      unit: 'sessions',
      from: FIRST,
      until: LAST,
      rows: [
        { week: FIRST, team: 'core', value: 6 },
        { week: FIRST, team: null, value: 6 },
      ],
      days: { expected: 7, settled: 5, unsettled: [OPEN], missing: [MISSING] },
      run_id: 'run 6',
      warnings: [],
    });
  });

  it('prints SQL that the database runs as it is, with the same numbers', async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse);
    for (const [name, by] of [
      ['active_users', 'week,team'],
      ['thinking_share', 'date'],
      ['inactive_users', 'month'],
      ['sessions', 'date,user'],
    ] as const) {
      const question = [name, '--by', by, ...PERIOD];
      const { rows } = JSON.parse((await ask(warehouse, ...question, '--json')).stdout);
      const { stdout } = await ask(warehouse, ...question, '--sql');
      expect(stdout).toMatch(/;\n$/);
      expect(await warehouse.place.query(stdout), name).toEqual(rows);
    }
  });

  it('answers about one of several organizations only if it is named', async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse, 'org_1');
    await fillWarehouse(warehouse, 'org_2');
    const unclear = await ask(warehouse, 'active_users');
    expect(unclear.code).toBe(2);
    expect(unclear.stderr).toContain('--organization');
    const { stdout } = await ask(warehouse, 'active_users', '--organization', 'org_2', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ org_id: 'org_2', rows: [{ value: 2 }] });
  });

  it('selects a team, users without one, and a user', async () => {
    const warehouse = await open(database);
    await fillWarehouse(warehouse);
    const sessionsOf = async (...filter: string[]) =>
      JSON.parse((await ask(warehouse, 'sessions', ...filter, '--json')).stdout).rows[0].value;
    expect(await sessionsOf('--team', 'core')).toBe(6);
    expect(await sessionsOf('--team', 'unassigned', '--user', 'ada')).toBe(0);
    expect(await sessionsOf('--team', 'unassigned')).toBe(6);
    expect(await sessionsOf('--user', HOSTILE)).toBe(6);
    const misspelt = await ask(warehouse, 'sessions', '--team', 'coer');
    expect(misspelt).toMatchObject({ code: 2, stdout: '' });
    expect((await ask(warehouse, 'sessions', '--user', 'adda')).code).toBe(2);
  });
});

describe('daywalk metric', () => {
  it('draws a table with the provenance below it, and shows no control character of a name', async () => {
    const warehouse = await openFilled();
    const { stdout } = await ask(warehouse, 'billable_tokens', '--by', 'user', ...PERIOD);
    const lines = stdout.split('\n');
    expect(lines[1]).toContain("=cmd|'/c calc'!A1\\x1b[31m\\nO'Neil");
    expect(lines[1]).toMatch(/ 6,000$/);
    expect(lines[4]).toBe(
      `organization org_1; ${FIRST} to ${LAST}; 5 of 7 days settled; 1 not settled: ${OPEN}; ` +
        `1 of 7 days is missing: ${MISSING}; run run 6`,
    );
  });

  it('shows – for an unknown number and "unassigned" for a missing team', async () => {
    const warehouse = await openFilled();
    const byDay = await ask(warehouse, 'sessions', '--by', 'date', '--from', FIRST, '--until', LAST);
    expect(byDay.stdout).toMatch(new RegExp(`${MISSING} +–`));
    const byTeam = await ask(warehouse, 'sessions', '--by', 'team', ...PERIOD);
    expect(byTeam.stdout).toMatch(/unassigned +6/);
  });

  it('prints CSV whose cells are no formulas, and says on standard error which days are missing', async () => {
    const warehouse = await openFilled();
    const { stdout, stderr } = await ask(warehouse, 'sessions', '--by', 'user,team', ...PERIOD, '--csv');
    expect(parse(stdout)).toEqual([
      ['user', 'team', 'value'],
      [`'${HOSTILE}`, 'unassigned', '6'],
      ['ada', 'core', '6'],
    ]);
    expect(stderr).toContain(`1 of 7 days is missing: ${MISSING}`);
  });

  it('warns about a missing price on standard error and in the JSON', async () => {
    const warehouse = await openFilled();
    const { stdout, stderr } = await ask(warehouse, 'cost', ...PERIOD, '--json');
    const { rows, warnings } = JSON.parse(stdout);
    expect(rows).toEqual([{ value: null }]);
    expect(warnings).toHaveLength(1);
    expect(stderr).toContain(warnings[0]);
  });

  it('without a name lists every metric', async () => {
    const { code, stdout } = await daywalkInProcess(['metric', '--json']);
    expect(code).toBe(0);
    const { metrics } = JSON.parse(stdout);
    expect(metrics.map(({ name }: { name: string }) => name)).toEqual(askableMetrics.map(({ name }) => name));
  });

  it('refuses what does not add up, and every mistake, with a remedy', async () => {
    const warehouse = await openFilled();
    for (const [args, hint] of REFUSED) {
      const { code, stdout, stderr } = await ask(warehouse, ...args);
      expect({ code, stdout }, args.join(' ')).toEqual({ code: 2, stdout: '' });
      expect(stderr, args.join(' ')).toContain(hint);
    }
  });
});

const REFUSED: readonly (readonly [args: readonly string[], hint: string])[] = [
  [['published_wau', '--by', 'week', ...PERIOD], 'use active_users --by week'],
  [['activ_users'], 'did you mean active_users?'],
  [['active_users', '--by', 'wek'], 'did you mean week?'],
  [['active_users', '--by', 'model'], 'it has date, week, month, user, team'],
  [['active_users', '--by', 'week,month'], 'choose one of date, week, month'],
  [['active_users', '--json', '--csv'], 'choose one of them'],
  [['active_users', '--from', '2026-02-30'], 'write days as YYYY-MM-DD'],
  [['active_users', '--from', '2026-02-05', '--until', '2026-02-04'], 'not after the last day'],
  [['active_users', '--from', '2025-12-31'], 'the first day with data is 2026-01-14'],
  [['tool_invocations', '--by', 'tool'], 'give the last day'],
  [['--by', 'week'], 'daywalk metric lists the names'],
  [['sessions', '--until', '2999-01-31'], 'the last day can be'],
  [['active_users', '--cohort', 'first-month', '--until', '2999-01-31'], 'the last day can be'],
  [['causes', '--until', '2999-01-31'], 'the last day can be'],
  [['sessions', '--unusual', '--until', '2999-01-31'], 'the last day can be'],
  [['sessions', '--compare', '2026-01-15..2035-01-31'], 'the last day can be'],
  [['causes', '--compare', '2026-01-15..2035-01-31'], 'the last day can be'],
];

async function openFilled(): Promise<Held> {
  const warehouse = await open(sqlite);
  await fillWarehouse(warehouse);
  return warehouse;
}
