import { describe, expect, it } from 'vitest';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { UsageError } from '../../../src/core/errors.ts';
import { metricSql } from '../../../src/metrics/answer-metric.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { type RandomWorld, randomWorld } from '../../support/metrics/random-world.ts';
import { type Held, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const PERIOD = { from: parseDay('2026-01-14'), until: parseDay('2026-03-31') };

/** A warehouse without rollups, so that every question by team computes the teams. */
async function withoutRollups(): Promise<{ warehouse: Held; world: RandomWorld }> {
  const warehouse = await open(sqlite);
  const world = randomWorld('org_1', { seed: 7, users: 4, days: 45 });
  await changeRows(warehouse, { put: world.rows, remove: [] });
  return { warehouse, world };
}

/** How the query reads the teams: each step with the steps that it is nested in. */
async function stepsOverTeams(warehouse: Held, query: string): Promise<string[]> {
  const rows = await warehouse.select(sql.raw(`EXPLAIN QUERY PLAN ${query.replace(/;\s*$/, '')}`));
  const steps = rows.map(({ parent, detail }) => ({ parent: Number(parent), detail: String(detail) }));
  return steps.flatMap(({ parent, detail }, index) => {
    if (!/ t\b/.test(detail)) return [];
    const outer = steps.slice(0, index).filter((step) => step.parent === parent && isLoop(step.detail));
    return [[...outer.map((step) => step.detail), detail].join(' > ')];
  });
}

function isLoop(detail: string): boolean {
  return detail.startsWith('SCAN') || detail.startsWith('SEARCH');
}

describe('on SQLite, while the rollup of users is stale,', () => {
  it('no question by team scans the teams for each row', { tags: 'ci/rare' }, async () => {
    const { warehouse, world } = await withoutRollups();
    let asked = 0;
    for (const { name } of allMetrics) {
      for (const by of [['team'], ['week', 'team'], ['date', 'team']] as const) {
        const question = { metric: name, orgId: world.orgId, by: [...by], ...PERIOD };
        const query = await metricSql(warehouse, question).catch(refused);
        if (query === null) continue;
        const steps = await stepsOverTeams(warehouse, query);
        expect(
          steps.filter((step) => step.includes(' > SCAN t')),
          `${name} by ${by.join(', ')}`,
        ).toEqual([]);
        asked += Number(steps.length > 0);
      }
    }
    expect(asked).toBeGreaterThan(20);
    expect(await warehouse.rowsOf(tables.userTeams, { orgId: world.orgId })).toEqual([]);
  });
});

const STALE: Readonly<Record<string, (warehouse: Held) => Promise<void>>> = {
  'other people, so that everybody is resolved again': (warehouse) =>
    warehouse.place.execute("UPDATE people SET team = 'elsewhere'"),
  'another day': (warehouse) =>
    warehouse.place.execute(
      "UPDATE export_units SET content_sha256 = 'other' WHERE stream = 'users' AND date = (SELECT MAX(date) FROM user_daily)",
    ),
};

describe('on SQLite, where users were computed from', () => {
  it.each(Object.keys(STALE))('%s, questions about users by team read the other rollups', async (name) => {
    const { warehouse, world } = await withoutRollups();
    await refreshRollups(warehouse, { orgId: world.orgId, now: new Date('2026-06-01T03:00:00Z') });
    await STALE[name]?.(warehouse);
    for (const by of [['team'], ['week', 'team'], ['month', 'team']] as const) {
      const question = { metric: 'active_users', orgId: world.orgId, by: [...by], ...PERIOD };
      const query = await metricSql(warehouse, question);
      expect(query).toMatch(by[0] === 'week' ? /FROM user_weekly r/ : /FROM user_monthly r/);
      expect(query).toMatch(/user_teams AS MATERIALIZED|FROM user_teams t/);
      const steps = await stepsOverTeams(warehouse, query);
      expect(steps.filter((step) => step.includes(' > SCAN t'))).toEqual([]);
      expect(steps.length).toBeGreaterThan(0);
    }
  });
});

/** Metrics without teams, or that have no sum over them. */
function refused(error: unknown): null {
  if (error instanceof UsageError) return null;
  throw error;
}
