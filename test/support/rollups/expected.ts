import { expect } from 'vitest';
import { parseDay, shiftDay, weekdayOf } from '../../../src/core/day.ts';
import type { Place } from '../warehouse/each-database.ts';

/** A row of user_daily, as far as rollups use it. */
export interface UserDay {
  readonly org_id: string;
  readonly date: string;
  readonly user_id: string;
  readonly user_email: string | null;
  readonly primary_model_tier: string | null;
  readonly [metric: string]: string | number | null;
}

const METRICS = [
  'billable_tokens',
  'tool_calls',
  'sessions',
  'messages',
  'user_messages',
  'assistant_messages',
  'files_created',
  'files_edited',
  'git_commits',
  'git_prs_created',
  'mcp_calls',
  'skill_calls',
  'slash_commands',
  'hooks',
] as const;
const METRICS_OF_USERS = METRICS.slice(0, 5).concat(METRICS.slice(6, 10));

type Row = Record<string, string | number | null>;

/** The tables that this file computes, and their order. */
const ORDER = {
  user_weekly: 'org_id, week_start, user_id',
  user_monthly: 'org_id, month, user_id',
  org_monthly: 'org_id, month',
  users: 'org_id, user_id',
} as const;

/** Rollups by the names of their tables. */
export type Rollups = Readonly<Record<keyof typeof ORDER, readonly Row[]>>;

/** Computes the rollups in plain JavaScript from the rows of user_daily. Teams are not part of it. */
export function expectedRollups(days: readonly UserDay[]): Rollups {
  const weekly = groups(days, ({ org_id, date, user_id }) => [org_id, mondayOf(date), user_id]);
  const monthly = groups(days, ({ org_id, date, user_id }) => [org_id, date.slice(0, 7), user_id]);
  const byMonth = groups(days, ({ org_id, date }) => [org_id, date.slice(0, 7)]);
  const byUser = groups(days, ({ org_id, user_id }) => [org_id, user_id]);
  const firstMonths = new Map(
    byUser.map(([key, own]) => [JSON.stringify(key), datesOf(own)[0]?.slice(0, 7)]),
  );
  const firstMonth = ({ org_id, user_id }: UserDay) => firstMonths.get(JSON.stringify([org_id, user_id]));
  const todays = new Map(
    groups(days, ({ org_id }) => [org_id]).map(([[org_id = ''], own]) => [org_id, datesOf(own).at(-1) ?? '']),
  );
  return {
    user_weekly: weekly.map(([[org_id = '', week_start = '', user_id = ''], own]) => ({
      ...{ org_id, week_start, user_id },
      ...totals(own),
    })),
    user_monthly: monthly.map(([[org_id = '', month = '', user_id = ''], own]) => ({
      ...{ org_id, month, user_id },
      ...totals(own),
    })),
    org_monthly: byMonth.map(([[org_id = '', month = ''], own]) => ({
      org_id,
      month,
      active_users: new Set(own.map(({ user_id }) => user_id)).size,
      new_users: new Set(own.filter((row) => firstMonth(row) === month).map(({ user_id }) => user_id)).size,
      user_days: own.length,
      ...sums(own, METRICS),
      thinking_tokens: thinking(own),
    })),
    users: byUser.map(([[org_id = '', user_id = ''], own]) => {
      const before = shiftDay(parseDay(todays.get(org_id) ?? ''), -30);
      return {
        ...{ org_id, user_id },
        ...activity(own),
        ...sums(own, METRICS_OF_USERS),
        active_days_30: own.filter(({ date }) => date > before).length,
      };
    }),
  };
}

/** Reads the stored rollups in the order of {@link expectedRollups}. */
export async function storedRollups(place: Place): Promise<Rollups> {
  const read = async (table: keyof Rollups) => {
    const rows = await place.query<Row>(`SELECT * FROM ${table}`);
    return sorted(
      rows.map(({ team: _, ...row }) => row),
      ORDER[table].split(', '),
    );
  };
  return {
    user_weekly: await read('user_weekly'),
    user_monthly: await read('user_monthly'),
    org_monthly: await read('org_monthly'),
    users: await read('users'),
  };
}

/** Reads the rows of user_daily. */
export function storedUserDays(place: Place): Promise<UserDay[]> {
  return place.query<UserDay>('SELECT * FROM user_daily');
}

/** Asserts that the languages by month equal a plain computation from the rows of days, but for stale months. */
export async function expectLanguages(place: Place, stale: ReadonlySet<string>): Promise<void> {
  const days = await place.query<Record<'org_id' | 'date' | 'user_id' | 'language', string>>(
    'SELECT org_id, date, user_id, language FROM user_daily_languages',
  );
  const groups = Map.groupBy(days, ({ org_id, date, user_id, language }) =>
    JSON.stringify([org_id, date.slice(0, 7), user_id, language]),
  );
  const expected = [...groups.values()].flatMap((own): Row[] => {
    const dates = own.map(({ date }) => date).toSorted();
    const [first, last] = [dates[0], dates.at(-1)];
    const [row] = own;
    if (row === undefined || first === undefined || last === undefined || stale.has(first.slice(0, 7)))
      return [];
    const { date: _, ...key } = row;
    const active = { first_active_on: first, last_active_on: last, active_days: own.length };
    return [{ ...key, month: first.slice(0, 7), ...active }];
  });
  const stored = await place.query<Row>('SELECT * FROM user_monthly_languages');
  const order = ['org_id', 'month', 'user_id', 'language'];
  expect(
    sorted(
      stored.filter(({ month }) => !stale.has(String(month))),
      order,
    ),
  ).toEqual(sorted(expected, order));
}

function datesOf(days: readonly UserDay[]): string[] {
  return days.map(({ date }) => date).toSorted();
}

function mondayOf(date: string): string {
  const day = parseDay(date);
  return shiftDay(day, 1 - weekdayOf(day));
}

function totals(own: readonly UserDay[]): Row {
  return { ...activity(own), ...sums(own, METRICS), thinking_tokens: thinking(own) };
}

function activity(own: readonly UserDay[]): Row {
  const inTime = own.toSorted((a, b) => (a.date < b.date ? -1 : 1));
  return {
    user_email: inTime.findLast(({ user_email }) => user_email !== null)?.user_email ?? null,
    first_active_on: inTime[0]?.date ?? null,
    last_active_on: inTime.at(-1)?.date ?? null,
    active_days: own.length,
  };
}

function sums(own: readonly UserDay[], metrics: readonly string[]): Row {
  return Object.fromEntries(metrics.map((name) => [name, sum(own.map((row) => row[name] ?? null))]));
}

function thinking(own: readonly UserDay[]): number | null {
  return sum(
    own.map((row) => (row.primary_model_tier === 'thinking' ? (row['billable_tokens'] ?? null) : 0)),
  );
}

function sum(values: readonly (string | number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce<number>((total, value) => total + Number(value), 0);
}

function groups(rows: readonly UserDay[], keyOf: (row: UserDay) => string[]): [string[], UserDay[]][] {
  const found = new Map<string, [string[], UserDay[]]>();
  for (const row of rows) {
    const key = keyOf(row);
    const name = JSON.stringify(key);
    const group = found.get(name) ?? [key, []];
    group[1].push(row);
    found.set(name, group);
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function sorted(rows: readonly Row[], columns: readonly string[]): Row[] {
  const keyOf = (row: Row) => JSON.stringify(columns.map((name) => row[name]));
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
