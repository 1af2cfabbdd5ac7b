import { expect, it } from 'vitest';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import { storePrices, storeUsers } from '../../support/metrics/small-world.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { type Database, type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** Monday to Wednesday, and the same days of the week before. */
const [FROM, UNTIL, BEFORE, END] = ['2026-03-02', '2026-03-04', '2026-02-23', '2026-02-25'];
const PERIOD = ['--from', FROM, '--until', UNTIL];

/** Two weeks without a Sunday; `ann` came and `old` went. Each has 2 sessions a day now, and had 1 before. */
async function twoWeeks(database: Database, without: readonly string[] = ['2026-03-01']): Promise<Held> {
  const warehouse = await open(database);
  for (const day of daysFrom(parseDay(BEFORE), parseDay(UNTIL))) {
    if (without.includes(day)) continue;
    const isNow = day >= FROM;
    const users = isNow ? ['ann', 'bob'] : ['bob', 'old'];
    const row = {
      sessions: isNow ? 2 : 1,
      billable_tokens: 100,
      primary_model_tier: isNow ? 'thinking' : '',
    };
    await storeUsers(
      warehouse,
      day,
      users.map((user_id) => ({ user_id, ...row })),
    );
  }
  return warehouse;
}

const ask = ({ place }: Held, ...args: string[]) =>
  daywalkInProcess(['metric', ...args], { env: { DAYWALK_WAREHOUSE: place.location } });

const compare = async (warehouse: Held, ...args: string[]) =>
  JSON.parse((await ask(warehouse, ...args, ...PERIOD, '--json')).stdout);

onEachDatabase((database) => {
  it('--compare gives what was before and the change of each group, also of new ones and of those that are gone', async () => {
    const warehouse = await twoWeeks(database);
    const { rows, compared } = await compare(warehouse, 'sessions', '--by', 'user', '--compare');
    expect(rows).toEqual([
      { user: 'ann', value: 6, before: 0, change: null },
      { user: 'bob', value: 6, before: 3, change: 1 },
      { user: 'old', value: 0, before: 3, change: -1 },
    ]);
    const days = { expected: 3, missing: [] };
    expect(compared).toMatchObject({ from: BEFORE, until: END, days, run_id: 'run-1', why_not: null });
  });

  it('the change of a share is the difference, and a group without one has none', async () => {
    const warehouse = await twoWeeks(database);
    const { rows } = await compare(warehouse, 'thinking_share', '--compare', 'previous');
    expect(rows).toEqual([{ value: 1, before: 0, change: 1 }]);
    const byUser = await compare(warehouse, 'sessions_per_active_user', '--by', 'user', '--compare');
    expect(byUser.rows[2]).toEqual({ user: 'old', value: null, before: 3, change: null });
  });
});

it('nothing is compared if a day of either span is missing, and the answer says why', async () => {
  for (const missing of ['2026-02-24', '2026-03-03']) {
    const warehouse = await twoWeeks(sqlite, [missing]);
    const why_not = '1 day is missing, so the spans cannot be compared';
    const { rows, compared } = await compare(warehouse, 'sessions', '--compare');
    expect(compared).toMatchObject({ from: BEFORE, until: END, why_not });
    expect(rows).toEqual([{ value: missing < FROM ? 12 : 8, before: null, change: null }]);
    const screen = await ask(warehouse, 'sessions', '--compare', ...PERIOD);
    expect(screen.stdout).toContain(`not compared with ${BEFORE} to ${END}: ${why_not}`);
    const csv = await ask(warehouse, 'sessions', '--compare', ...PERIOD, '--csv');
    expect(csv.stderr).toContain(why_not);
  }
});

it('a span can be named, or be the one of the calendar; one before the first expected day is none', async () => {
  const warehouse = await twoWeeks(sqlite, []);
  const { compared: named } = await compare(warehouse, 'sessions', '--compare', '2026-02-24..2026-02-26');
  expect(named).toMatchObject({ from: '2026-02-24', until: '2026-02-26' });
  const { compared: calendar } = await compare(warehouse, 'sessions', '--compare', 'calendar');
  expect(calendar).toMatchObject({ from: '2026-02-27', until: '2026-03-01' });
  const early = ['--from', '2026-01-15', '--until', '2026-01-15', '--compare', '--json'];
  const { compared: none } = JSON.parse((await ask(warehouse, 'sessions', ...early)).stdout);
  const why_not = 'the span before would begin before the first expected day';
  expect(none).toEqual({ from: null, until: null, days: null, run_id: null, why_not });
});

it('spans with prices in two currencies are not compared', async () => {
  const warehouse = await twoWeeks(sqlite);
  const price = { price_per_million: 1, valid_to: null };
  await storePrices(warehouse, [
    { ...price, valid_from: '2026-01-01', valid_to: '2026-02-28', currency: 'EUR' },
    { ...price, valid_from: '2026-03-01', currency: 'USD' },
  ]);
  const { rows, compared } = await compare(warehouse, 'cost', '--compare');
  expect(rows).toEqual([{ value: 0.0006, before: null, change: null }]);
  expect(compared.why_not).toContain('prices in USD and EUR');
});

it('a warning about the span before names that span; one about both stands once', async () => {
  const warehouse = await twoWeeks(sqlite);
  const price = { price_per_million: 1, valid_to: null, currency: 'EUR' };
  await storePrices(warehouse, [{ ...price, valid_from: '2026-02-25' }]);
  const { warnings } = await compare(warehouse, 'cost', '--by', 'team', '--compare');
  expect(warnings).toEqual([
    expect.stringMatching(/^no people are loaded/),
    expect.stringMatching(`^of the span from ${BEFORE} to ${END}: 2 days with credits have no price`),
  ]);
});

it('the screen and the CSV have both numbers and the change', async () => {
  const warehouse = await twoWeeks(sqlite);
  const asked = ['sessions', '--by', 'user', '--compare', ...PERIOD];
  const { stdout } = await ask(warehouse, ...asked);
  expect(stdout).toMatch(
    /^USER +SESSIONS +BEFORE +CHANGE\nann +6 +0 +–\nbob +6 +3 +\+100\.0 %\nold +0 +3 +-100\.0 %\n/,
  );
  expect(stdout).toContain(`compared with ${BEFORE} to ${END}`);
  const csv = await ask(warehouse, ...asked, '--csv');
  expect(csv.stdout).toBe('user,value,before,change\nann,6,0,\nbob,6,3,1\nold,0,3,-1\n');
});

it('the screen names the days of the span before that may still change', async () => {
  const warehouse = await twoWeeks(sqlite);
  const { stdout } = await ask(warehouse, 'sessions', '--compare', ...PERIOD);
  expect(stdout).toContain(`; compared with ${BEFORE} to ${END} (3 not settled: ${BEFORE} to ${END}); `);
});

it.each([
  [['--compare', 'last-year'], 'write previous, calendar, or two days'],
  [['--compare', '2026-02-30..2026-03-01'], 'write days as YYYY-MM-DD'],
  [['--compare', '2026-03-02..2026-03-01'], 'not after the last day'],
  [['--compare', '--by', 'date'], 'compare without date, week and month'],
  [['--compare', '--sql'], 'ask for the SQL of each span'],
] as const)('%j is refused with a remedy', async (args, hint) => {
  const { code, stdout, stderr } = await ask(await twoWeeks(sqlite), 'sessions', ...PERIOD, ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(hint);
});
