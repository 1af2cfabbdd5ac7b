import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { isObject } from '../../../src/core/json.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { type NightOptions, runNight } from '../../support/fuzz/campaign-night.ts';
import { type Clean, CleanAnswers } from '../../support/fuzz/service.ts';
import { type Held, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const FIRST_NIGHT = parseDay('2026-02-05');

/** A row for the response; null for no row, undefined for a request that fails. */
type Edit = (
  row: Record<string, unknown>,
  asked: { path: string; isAlone: boolean },
) => object | null | undefined;

/** A warehouse that one honest night has filled, and further nights in which some rows are answered otherwise. */
async function filled(
  options: Partial<EmulatorOptions> = {},
  night: Omit<NightOptions, 'today'> = {},
  first?: Edit,
) {
  const emulator = await startEmulator({
    realistic: true,
    today: shiftDay(FIRST_NIGHT, 40),
    users: 9,
    reports: 0,
    ...options,
  });
  onTestFinished(() => emulator.close());
  const clean = new CleanAnswers(emulator);
  const warehouse = await open(sqlite);
  let today = FIRST_NIGHT;
  const nights = async (count: number, edit: Edit = (row) => row, activityMs = 0) => {
    for (let number = 0; number < count; number += 1) {
      const to = async (path: string) => {
        if (path.includes('/activity')) await setTimeout(activityMs);
        return edited(clean, path, edit);
      };
      await runNight(warehouse, clean, { to }, { ...night, today });
      today = shiftDay(today, 1);
    }
  };
  await nights(1, first);
  return { warehouse, nights };
}

async function edited(clean: CleanAnswers, path: string, edit: Edit): Promise<Clean> {
  const answer = await clean.get(path);
  const sent: unknown = answer.status === 200 ? JSON.parse(answer.body.toString()) : null;
  if (!isObject(sent) || !Array.isArray(sent['data'])) return answer;
  const query = new URL(path, 'http://service').searchParams;
  const isAlone = query.get('startDate') === query.get('endDate');
  const rows = sent['data'].map((row: unknown) => (isObject(row) ? edit(row, { path, isAlone }) : row));
  if (rows.includes(undefined)) return { ...answer, status: 500, body: Buffer.from('{}') };
  return {
    ...answer,
    body: Buffer.from(JSON.stringify({ ...sent, data: rows.filter((row) => row !== null) })),
  };
}

async function value({ place }: Held, sql: string): Promise<unknown> {
  const [row] = await place.query(sql);
  return Object.values(row ?? {})[0];
}

const setTools: (day: string, calls: number) => Edit =
  (day, calls) =>
  (row, { path }) =>
    path.includes('/tools') && row['date'] === day ? { ...row, tool_calls: calls } : row;
const toolCalls = (day: string) => `SELECT tool_calls FROM tools_daily WHERE date = '${day}'`;

test('a restated weekly count of a day without activity is stored', { tags: 'ci/rare' }, async () => {
  const quirks = { inactiveDays: [parseDay('2026-01-28')], emptyDays: 'zeros' } as const;
  const { warehouse, nights } = await filled({ quirks });
  await nights(2, (row, { path }) =>
    path.includes('/activity') && row['date'] === '2026-01-28' ? { ...row, weekly_active_users: 2 } : row,
  );
  const sql = "SELECT weekly_active_users FROM activity_daily WHERE date = '2026-01-28'";
  expect(await value(warehouse, sql)).toBe(2);
});

test('an older day whose tokens moved to another model is stored', { tags: 'ci/rare' }, async () => {
  const { warehouse, nights } = await filled({}, { watchDays: 7 });
  await nights(6, (row, { path }) => {
    if (!path.includes('/tokens') || row['date'] !== '2026-01-22') return row;
    if ('group_key' in row) return { ...row, group_key: 'another-model' };
    const [first] = Array.isArray(row['by_model']) ? row['by_model'] : [];
    return { ...row, by_model: [{ ...first, model_id: 'another-model' }] };
  });
  const sql = "SELECT group_concat(model_id) FROM tokens_daily_by_model WHERE date = '2026-01-22'";
  expect(await value(warehouse, sql)).toBe('another-model');
});

test('removed days are found even if their whole comparison range is empty', {
  tags: 'ci/rare',
}, async () => {
  const { warehouse, nights } = await filled({}, { rangeDays: 2 });
  const gone = ['2026-01-20', '2026-01-21', '2026-01-22', '2026-01-23'];
  await nights(7, (row) => (gone.includes(String(row['date'])) ? null : row));
  expect(
    await value(warehouse, `SELECT count(*) FROM tools_daily WHERE date IN ('${gone.join("','")}')`),
  ).toBe(0);
});

test('a record that belongs to no day does not hide other days of its range', {
  tags: 'ci/rare',
}, async () => {
  const spoil: Edit = (row, { path }) =>
    path.includes('/tools') && row['date'] === '2026-02-01' ? { ...row, tool_calls: 'many' } : row;
  const { warehouse, nights } = await filled({}, {}, spoil);
  const restate = setTools('2026-01-28', 77);
  await nights(2, (row, asked) => (restate(row, asked) === row ? spoil(row, asked) : restate(row, asked)));
  expect(await value(warehouse, toolCalls('2026-01-28'))).toBe(77);
});

test('a request that always fails does not block the comparison of other ranges', {
  tags: 'ci/rare',
}, async () => {
  const { warehouse, nights } = await filled({}, { watchDays: 7 });
  const restate = setTools('2026-01-15', 88);
  await nights(9, (row, asked) =>
    asked.path.includes('/activity') && row['date'] === '2026-02-01' ? undefined : restate(row, asked),
  );
  expect(await value(warehouse, toolCalls('2026-01-15'))).toBe(88);
});

test('a difference that once changed no row is followed up again after two weeks', {
  tags: 'ci/variant',
}, async () => {
  const { warehouse, nights } = await filled();
  const restate = setTools('2026-01-28', 99);
  // Ranges are right, and the day alone is answered by a cache.
  await nights(4, (row, asked) => (asked.isAlone ? row : restate(row, asked)));
  await nights(18, restate);
  expect(await value(warehouse, toolCalls('2026-01-28'))).toBe(99);
});

test('a user who disappeared and is no longer counted as active is no loss when the day is reopened', {
  tags: 'ci/rare',
}, async () => {
  const { warehouse, nights } = await filled();
  const [{ user_id: leaver } = {}] = await warehouse.place.query<{ user_id: string }>(
    "SELECT user_id FROM user_daily WHERE date = '2026-01-28' ORDER BY user_id LIMIT 1",
  );
  await nights(
    2,
    (row, { path }) => {
      if (row['date'] !== '2026-01-28') return row;
      if (path.includes('/activity'))
        return { ...row, daily_active_users: Number(row['daily_active_users']) - 1 };
      return row['user_id'] === leaver && path.includes('/users') ? null : row;
    },
    50,
  );
  const state = "SELECT state FROM export_units WHERE stream = 'users' AND date = '2026-01-28'";
  expect(await value(warehouse, state)).toBe('loaded');
});
