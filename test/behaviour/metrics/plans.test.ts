import { describe, expect, it } from 'vitest';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { UsageError } from '../../../src/core/errors.ts';
import { metricSql } from '../../../src/metrics/answer-metric.ts';
import { changeRows } from '../../../src/warehouse/port.ts';
import { type RandomWorld, randomWorld } from '../../support/metrics/random-world.ts';
import { type Held, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const PERIOD = { from: parseDay('2026-01-14'), until: parseDay('2026-03-31') };

/** Warehouses without rollups, so that every question by team computes the teams. */
async function withoutRollups(): Promise<{ warehouse: Held; world: RandomWorld }> {
  const warehouse = await open(sqlite);
  const world = randomWorld('org_1', { seed: 7, users: 4, days: 45 });
  await changeRows(warehouse, { put: world.rows, remove: [] });
  return { warehouse, world };
}

/** The steps of the plan that read the teams. */
async function stepsOverTeams(warehouse: Held, query: string): Promise<string[]> {
  const steps = await warehouse.select(sql.raw(`EXPLAIN QUERY PLAN ${query.replace(/;\s*$/, '')}`));
  return steps.map(({ detail }) => String(detail)).filter((detail) => / t\b/.test(detail));
}

describe('on SQLite, while the rollup of users is stale,', () => {
  it('no question by team scans the teams for each row', async () => {
    const { warehouse, world } = await withoutRollups();
    let asked = 0;
    for (const { name } of allMetrics) {
      for (const by of [['team'], ['week', 'team'], ['date', 'team']] as const) {
        const question = { metric: name, orgId: world.orgId, by: [...by], ...PERIOD };
        const query = await metricSql(warehouse, question).catch(refused);
        if (query === null) continue;
        const steps = await stepsOverTeams(warehouse, query);
        expect(
          steps.filter((step) => step.startsWith('SCAN t')),
          `${name} by ${by.join(', ')}`,
        ).toEqual([]);
        asked += Number(steps.length > 0);
      }
    }
    expect(asked).toBeGreaterThan(20);
    expect(await warehouse.rowsOf(tables.userTeams, { orgId: world.orgId })).toEqual([]);
  });
});

/** Metrics without teams, or that have no sum over them. */
function refused(error: unknown): null {
  if (error instanceof UsageError) return null;
  throw error;
}
