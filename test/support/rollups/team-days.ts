import { expect } from 'vitest';
import type { Place } from '../warehouse/each-database.ts';

type Row = Record<string, string | number | null>;

/** Days whose rows may differ. */
interface StaleDays {
  readonly teams: ReadonlySet<string>;
  readonly models: ReadonlySet<string>;
}

/** What the tables by team have beside their key. */
const SUMS = {
  team_daily: [
    ...['billable_tokens', 'tool_calls', 'sessions', 'messages', 'user_messages', 'assistant_messages'],
    ...['files_created', 'files_edited', 'git_commits', 'git_prs_created', 'mcp_calls', 'skill_calls'],
    ...['slash_commands', 'hooks'],
  ],
  team_model_daily: [
    'billable_tokens',
    'input_tokens',
    'output_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
  ],
} as const;

/** Asserts that the days of teams equal a plain computation from the rows of users and `user_teams`, but for the stale ones. */
export async function expectTeamDays(place: Place, stale: StaleDays): Promise<void> {
  const periods = Map.groupBy(await place.query<Row>('SELECT * FROM user_teams'), userOf);
  const teamOf = (row: Row) =>
    periods
      .get(userOf(row))
      ?.find(({ valid_from, valid_to }) => isBetween(row['date'], valid_from, valid_to))?.['team'] ??
    'unassigned';
  const userDays = await place.query<Row>('SELECT * FROM user_daily');
  const ofTeams = totals(userDays, teamOf, SUMS.team_daily, stale.teams).map(([row, own]) => ({
    ...row,
    thinking_tokens: sum(
      own.map((day) => (day['primary_model_tier'] === 'thinking' ? (day['billable_tokens'] ?? null) : 0)),
    ),
  }));
  expect(await stored(place, 'team_daily', stale.teams)).toEqual(inOrder(ofTeams));
  const tokens = await place.query<Row>('SELECT * FROM tokens_daily_by_user_model');
  const ofModels = totals(tokens, teamOf, SUMS.team_model_daily, stale.models).map(([row, own]) => ({
    ...row,
    model_tier:
      own
        .map(({ model_tier }) => model_tier ?? null)
        .filter((tier) => tier !== null)
        .toSorted()
        .at(-1) ?? null,
  }));
  expect(await stored(place, 'team_model_daily', stale.models)).toEqual(inOrder(ofModels));
}

async function stored(place: Place, table: keyof typeof SUMS, stale: ReadonlySet<string>): Promise<Row[]> {
  const rows = await place.query<Row>(`SELECT * FROM ${table}`);
  return inOrder(rows.filter(({ date }) => !stale.has(String(date))));
}

/** A row for each organization, day, team and, if there is any, model, with the rows that it sums up. */
function totals(
  days: readonly Row[],
  teamOf: (row: Row) => string | number,
  sums: readonly string[],
  stale: ReadonlySet<string>,
): [Row, Row[]][] {
  const fresh = days.filter(({ date }) => !stale.has(String(date)));
  const keyOf = (row: Row) => ({
    ...{ org_id: row['org_id'] ?? null, date: row['date'] ?? null, team: teamOf(row) },
    ...('model_id' in row && { model_id: row['model_id'] ?? null }),
  });
  const groups = Map.groupBy(fresh, (row) => JSON.stringify(keyOf(row)));
  return [...groups.values()].flatMap((own): [Row, Row[]][] => {
    const [first] = own;
    if (first === undefined) return [];
    const values = sums.map((name) => [name, sum(own.map((row) => row[name] ?? null))]);
    return [[{ ...keyOf(first), active_users: own.length, ...Object.fromEntries(values) }, own]];
  });
}

function sum(values: readonly (string | number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce<number>((total, value) => total + Number(value), 0);
}

function userOf({ org_id, user_id }: Row): string {
  return JSON.stringify([org_id, user_id]);
}

function isBetween(
  day: Row[string] | undefined,
  from: Row[string] | undefined,
  to: Row[string] | undefined,
): boolean {
  return String(from) <= String(day) && String(day) <= String(to);
}

function inOrder(rows: readonly Row[]): Row[] {
  const keyOf = ({ org_id, date, team, model_id }: Row) => JSON.stringify([org_id, date, team, model_id]);
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
