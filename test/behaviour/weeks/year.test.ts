// @module-tag ci/rare
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { writeReport } from '../../../src/look/report/write-reports.ts';
import { changeRows, runReads } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { teamPeriods } from '../../../src/rollups/resolve-people.ts';
import { readStanding } from '../../../src/rollups/standing.ts';
import { type Blocks, WEEK_DIMENSIONS, type WeekDimension } from '../../../src/weeks/blocks.ts';
import { publishWeeks } from '../../../src/weeks/publish-weeks.ts';
import { publishedWeeks } from '../../../src/weeks/published.ts';
import { readWeek, type WeekFacts } from '../../../src/weeks/week-facts.ts';
import { Collector } from '../../support/metrics/collector.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';
import { attackWeek } from '../../support/weeks/attack-week.ts';
import { fillWeeks, ORG, refresh, userId } from '../../support/weeks/year.ts';

const K = 5;
const PEOPLE = 48;
const WEEKS = 45;
const NOW = new Date('2026-12-31T03:00:00Z');

async function loadTeams(warehouse: Warehouse, moved: ReadonlySet<number> = new Set()): Promise<void> {
  const rows = new Collector(ORG);
  for (let index = 0; index < PEOPLE; index += 1) {
    const team = (Math.floor((index * 5) / PEOPLE) + (moved.has(index) ? 1 : 0)) % 5;
    rows.add(tables.people, { person: userId(index), valid_from: '2026-01-01', team: `team ${team}` });
  }
  await changeRows(warehouse, { put: rows.all(), remove: [] });
  await refresh(warehouse);
}

/** Reports of many periods, for both audiences, with several limits; without the sentence about restated weeks. */
async function reportsOf(warehouse: Warehouse, periods: number): Promise<Map<string, string>> {
  const weeks = await runReads(warehouse, publishedWeeks(ORG));
  const path = join(tempDir(), 'report.html');
  const found = new Map<string, string>();
  const all = weeks.flatMap((from, index) =>
    weeks.slice(index).map((last) => ({ from, until: shiftDay(last, 6) })),
  );
  for (const [index, period] of all.entries()) {
    if (index % Math.ceil(all.length / periods) !== 0) continue;
    for (const audience of ['team', 'public'] as const) {
      for (const minGroup of [K, 8, 12]) {
        const request = { filters: { orgId: ORG, ...period }, audience, minGroup, now: NOW };
        await writeReport(warehouse, request, path);
        const text = readFileSync(path, 'utf8').replaceAll(
          /<ul class="notes"><li>Restated since[^<]*<\/li><\/ul>/g,
          '',
        );
        found.set(JSON.stringify([period, audience, minGroup]), text);
      }
    }
  }
  return found;
}

/** The blocks that are published of a week, with the groups of which each consists. */
async function blocksIn(
  warehouse: Warehouse,
  week: UtcDay,
  { people }: WeekFacts,
): Promise<Map<WeekDimension, Blocks>> {
  const rows = await warehouse.select(
    sql`SELECT DISTINCT dimension, block FROM published_weeks WHERE week_start = ${week} AND metric <> ''`,
  );
  const namesOf = (dimension: string) =>
    rows.flatMap((row) => (row['dimension'] === dimension ? String(row['block']) : []));
  const blocks = new Map<WeekDimension, Blocks>();
  for (const dimension of WEEK_DIMENSIONS) {
    const names = namesOf(dimension);
    const parts = people.flatMap(({ days, credits, files }) => [...days, ...credits, ...files]);
    const own = new Map<string, string>();
    for (const part of parts) {
      const group = part[dimension];
      if (group === undefined) continue;
      const tier = blocks.get('tier')?.get(part.tier ?? '');
      const candidates = [group, `others (${tier})`, 'others'];
      const block = candidates.find((name) => names.includes(name));
      if (block !== undefined) own.set(group, block);
    }
    if (names.length > 0) blocks.set(dimension, own);
  }
  return blocks;
}

test('no report of a year, and no two of them, say anything about fewer people than the limit', {
  timeout: 1_200_000,
}, async () => {
  const place = await sqlite.migrated();
  const warehouse = await open(place);
  await fillWeeks(warehouse, 11, { people: PEOPLE, weeks: WEEKS });
  const publish = () => publishWeeks(warehouse, { orgId: ORG, minGroup: K });
  expect(await publish()).toBe(WEEKS);
  const withoutTeams = await reportsOf(warehouse, 3);
  await loadTeams(warehouse);
  expect(await publish()).toBe(WEEKS);
  const weeks = await runReads(warehouse, publishedWeeks(ORG));

  const teams = await runReads(
    warehouse,
    (function* () {
      return yield* teamPeriods(ORG, yield* readStanding(ORG));
    })(),
  );
  let named = 0;
  for (const week of weeks) {
    const facts = await runReads(warehouse, readWeek(ORG, week, teams));
    const blocks = await blocksIn(warehouse, week, facts);
    named += [...(blocks.get('team') ?? [])].filter(([group, block]) => group === block).length;
    expect({ week, found: attackWeek(facts.people, blocks, K - 1) }).toEqual({ week, found: [] });
  }
  // Something is published: more than half of what could be.
  expect(named).toBeGreaterThan((WEEKS * 5) / 2);

  const before = await reportsOf(warehouse, answersMax(200, 6));
  expect(before.get([...withoutTeams.keys()][0] ?? '')).not.toBe([...withoutTeams.values()][0]);
  await loadTeams(warehouse, new Set([7, 20]));
  await publish();
  await place.execute(
    "UPDATE user_daily SET billable_tokens = 1 WHERE date BETWEEN '2026-03-02' AND '2026-03-08'",
  );
  await place.execute(
    "UPDATE export_units SET content_sha256 = 'restated' WHERE stream = 'users' AND date BETWEEN '2026-03-02' AND '2026-03-08'",
  );
  await refresh(warehouse);
  await publish();
  const erased = await daywalkInProcess(['erase', '--user', userId(30)], {
    env: { DAYWALK_WAREHOUSE: place.location, DAYWALK_NOW: NOW.toISOString() },
  });
  expect(erased.code, erased.stderr).toBe(0);
  await publish();
  expect(await reportsOf(warehouse, answersMax(200, 6))).toEqual(before);
});
