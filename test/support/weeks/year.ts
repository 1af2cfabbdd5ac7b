import { tables } from '../../../schema/tables.ts';
import { daysFrom, parseDay, shiftDay, weekdayOf } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { changeRows } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { Collector } from '../metrics/collector.ts';
import { sequence } from '../random/seed.ts';

export const ORG = 'org_1';
const FIRST = parseDay('2026-01-19');
const AT = '2026-12-31T03:00:00.000Z';

/** The people of the organization. Their IDs are such that an erasure finds them everywhere. */
export const userId = (index: number): string => `user_${String(index).padStart(4, '0')}`;

/** Fills a warehouse with settled weeks of an organization that follows from a seed, without people and prices. */
export async function fillWeeks(
  warehouse: Warehouse,
  seed: number,
  { people, weeks }: { people: number; weeks: number },
) {
  const random = sequence(seed);
  const one = (count: number, skew: number) => Math.floor(count * random() ** skew);
  const habits = Array.from({ length: people }, () => ({
    level: ['auto-high', 'auto-low', 'manual', 'spec'][one(4, 2)] ?? '',
    model: one(6, 2),
    language: one(9, 2),
    often: 0.2 + 0.7 * random(),
  }));
  const rows = new Collector(ORG);
  for (const date of daysFrom(FIRST, shiftDay(FIRST, 7 * weeks - 1))) {
    const models = new Map<number, number>();
    const languages = new Map<number, number>();
    for (const [index, own] of habits.entries()) {
      if (weekdayOf(date) > 5 || random() > own.often) continue;
      const user_id = userId(index);
      const model = random() < 0.8 ? own.model : one(6, 1);
      const language = random() < 0.8 ? own.language : one(9, 1);
      const billable_tokens = 1 + Math.floor(random() * 1e6);
      models.set(model, (models.get(model) ?? 0) + billable_tokens);
      languages.set(language, (languages.get(language) ?? 0) + 1);
      rows.add(tables.userDaily, {
        date,
        user_id,
        sessions: 1 + one(9, 1),
        billable_tokens,
        delegation_level: own.level,
      });
      rows.add(tables.tokensDailyByUserModel, { date, user_id, ...modelOf(model), billable_tokens });
      rows.add(tables.userDailyLanguages, { date, user_id, language: `language ${language}` });
    }
    const all = [...models.values()].reduce((sum, value) => sum + value, 0);
    rows.add(tables.tokensDaily, { date, billable_tokens: all });
    for (const [model, billable_tokens] of models)
      rows.add(tables.tokensDailyByModel, { date, ...modelOf(model), billable_tokens });
    for (const [language, count] of languages)
      rows.add(tables.productivityDailyByLanguage, { date, language: `language ${language}`, count });
    for (const stream of DAILY_STREAMS)
      rows.add(tables.exportUnits, { ...UNIT, stream, date, content_sha256: `${date}` });
  }
  await changeRows(warehouse, { put: rows.all(), remove: [] });
  await refresh(warehouse);
}

const UNIT = {
  state: 'loaded',
  confirmed: 'data',
  run_id: 'run 1',
  rows: 2,
  attempts: 1,
  requests: 1,
  first_loaded_at: AT,
  last_pulled_at: AT,
  changed_at: AT,
  settled_at: AT,
};

function modelOf(model: number) {
  return {
    model_id: `model ${model}`,
    model_tier: model === 2 ? 'thinking' : model === 4 ? 'premium' : 'standard',
  };
}

export async function refresh(warehouse: Warehouse): Promise<void> {
  await refreshRollups(warehouse, { orgId: ORG, now: new Date(AT) });
}
