// @module-tag ci/variant

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readMetric } from '../../../jobs/metric.ts';
import { brief } from '../../../jobs/pages.ts';
import { daysFrom, parseDay, shiftDay } from '../../../src/core/day.ts';
import { formatNumber } from '../../../src/look/numbers.ts';
import { connectAssistant } from '../../support/assistants/client.ts';
import { createReportRig } from '../../support/audience/report-rig.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { serve } from '../../support/dashboard/serve.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { pick, seeded } from '../../support/random/seed.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const NOW = '2026-02-24T03:00:00Z';
const QUESTIONS = 200;
const TEAMS = [undefined, 'core', '../etc', 'con', 'unassigned'] as const;
const DAYS = daysFrom(parseDay('2026-01-14'), parseDay('2026-02-23'));
const FIRST_NUMBER = /<p class="sentence"><strong><data value="([^"]*)"/;

/** The metric of a slice: parts of everybody are published, others are of users. */
function metricOf(
  value: string,
  { team, model }: { team: string | undefined; model: string | undefined },
): string {
  const prefix = model === undefined ? '' : team === undefined ? 'published_' : 'user_model_';
  return `${prefix}${value === 'cost' ? 'cost' : 'billable_tokens'}`;
}

onEachDatabase((database) => {
  it(`pages, daywalk metric and assistants give one number for each of ${QUESTIONS} random questions; so do FOCUS and the brief`, async () => {
    const rig = await createReportRig(database);
    const cwd = tempDir();
    writeFileSync(join(cwd, 'prices.csv'), 'valid_from,currency,price_per_million\n2026-01-01,EUR,12.5\n');
    const env = { DAYWALK_WAREHOUSE: rig.path, DAYWALK_NOW: NOW };
    expect((await daywalkInProcess(['prices', 'load', 'prices.csv'], { cwd, env })).code).toBe(0);
    const random = seeded('one number');
    const models = await rig.column('SELECT DISTINCT model_id FROM tokens_daily_by_user_model ORDER BY 1');
    const clock = new FakeClock({ now: NOW });
    const job = { clock, signal: new AbortController().signal };
    const settings = { ...rig.settings, queryTimeout: 60_000 };
    const assistant = await connectAssistant(rig.place, { now: NOW });
    const pages = await serve(rig.place, { clock });
    const metric = async (
      name: string,
      from: string,
      until: string,
      about: { team?: string | undefined; filters?: { model: string } } = {},
    ) => {
      const asked = { metric: name, by: [], from: parseDay(from), until: parseDay(until), ...about };
      return (await readMetric(settings, asked, job)).rows[0]?.value ?? null;
    };
    let numbers = 0;
    for (let question = 0; question < QUESTIONS; question += 1) {
      const at = Math.floor(random() * DAYS.length);
      const [from = '', until = ''] = [
        DAYS[at],
        DAYS[Math.min(DAYS.length - 1, at + Math.floor(random() * 30))],
      ];
      const team = pick(random, TEAMS);
      const model = random() < 0.4 ? pick(random, [models[0] ?? '', ...models]) : undefined;
      const value = pick(random, ['cost', 'credits']);
      const name = metricOf(value, { team, model });
      const filters = model === undefined ? {} : { filters: { model } };
      const printed = await metric(name, from, until, { team, ...filters });
      const told = await assistant.call('query_metric', {
        ...{ metric: name, from, until },
        ...(team !== undefined && { team }),
        ...(model !== undefined && { filter: { model } }),
      });
      const slice = { from, until, value, ...(team && { team }), ...(model && { model }) };
      const page = await pages.ask(`/explore?${new URLSearchParams(slice)}`);
      const shown = FIRST_NUMBER.exec(page.body)?.[1];
      const about = JSON.stringify({ name, ...slice });
      expect([about, told.data['total']]).toEqual([about, printed]);
      expect([about, page.status, shown === undefined ? null : Number(shown)]).toEqual([about, 200, printed]);
      if (printed !== null) numbers += 1;
    }
    expect(numbers).toBeGreaterThan(QUESTIONS * 0.9);
    expect([...assistant.failures, ...pages.failures]).toEqual([]);

    for (const month of ['2026-01', '2026-02']) {
      const out = join(cwd, `${month}.csv`);
      const { code, stdout } = await daywalkInProcess(['focus', '--month', month, '--out', out, '--json'], {
        cwd,
        env,
      });
      expect(code).toBe(0);
      const days = DAYS.filter((day) => day.startsWith(month));
      expect(JSON.parse(stdout).total.cost).toBeCloseTo(
        (await metric('cost', days[0] ?? '', days.at(-1) ?? '')) ?? 0,
        6,
      );
    }
    for (let monday = parseDay('2026-01-19'); monday < '2026-02-23'; monday = shiftDay(monday, 7)) {
      const span = { kind: 'week', monday } as const;
      const asked = {
        span,
        audience: 'managers',
        folder: join(cwd, monday),
        organization: undefined,
        dashboard: undefined,
      } as const;
      await brief(settings, asked, job);
      const cost = (await metric('cost', monday, shiftDay(monday, 6))) ?? 0;
      expect(readFileSync(join(cwd, monday, 'body.txt'), 'utf8')).toContain(
        `${formatNumber(cost, 'round')}\u00a0EUR`,
      );
    }
  });
});
