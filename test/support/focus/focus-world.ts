import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { focus } from '../../../jobs/publish.ts';
import type { FocusReport } from '../../../src/bi/focus/export.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { parseMonth } from '../../../src/core/day.ts';
import type { EmailPolicy } from '../../../src/privacy/gate.ts';
import { refresh, storeUsers } from '../metrics/small-world.ts';
import { tempDir } from '../suite/temp-dir.ts';
import { commitDay, commitOf } from '../warehouse/commit-of.ts';
import { type Database, type Foreign, open } from '../warehouse/each-database.ts';
import { sqlite } from '../warehouse/sqlite-place.ts';

/** A row of a CSV file, as text. */
export type FileRow = Readonly<Record<string, string>>;

export interface FocusWorld {
  /** The folder of the files. */
  readonly folder: string;
  /** The place of the warehouse, and how other programs query it. */
  readonly location: string;
  readonly query: Foreign['query'];
  readonly execute: Foreign['execute'];
  /**
   * Stores a day of tokens: by user and model as `{ 'ada/atlas': 5 }`, and their total unless another is given.
   * @param at when it was pulled. @default 2026-03-20
   */
  day(day: string, tokens: Readonly<Record<string, number>>, total?: number, at?: string): Promise<void>;
  /** Replaces all prices. */
  prices(
    ...prices: readonly (readonly [from: string, to: string | null, currency: string, price: number])[]
  ): Promise<void>;
  /** Replaces all teams. */
  teams(
    ...teams: readonly (readonly [
      user: string,
      from: string,
      to: string,
      team: string,
      costCenter: string | null,
    ])[]
  ): Promise<void>;
  /** Stores users as active on a day. */
  active(day: string, users: readonly string[]): Promise<void>;
  /** Computes the rollups. */
  refresh(): Promise<void>;
  /** Replaces all people, and leaves the table of teams as it is. */
  people(...people: readonly (readonly [person: string, from: string, team: string])[]): Promise<void>;
  /** Writes a file of February 2026. */
  issue(name: string, options?: IssueOptions): Promise<FocusReport>;
  /** The path of a file. */
  path(name: string): string;
  /** Reads a CSV file. */
  rows(name: string): FileRow[];
}

export interface IssueOptions {
  readonly corrects?: readonly string[];
  readonly month?: string;
  readonly organization?: string;
  readonly provider?: string;
  readonly now?: string;
  readonly emails?: EmailPolicy;
}

const FIVE = (tokens: number) => [tokens, tokens, 0, 0, 0, null];

/** Builds a warehouse of one organization, `org_1`, and a folder for files. */
export async function focusWorld(database: Database = sqlite): Promise<FocusWorld> {
  const warehouse = await open(database);
  const folder = tempDir();
  const path = (name: string) => join(folder, name);
  const replace = async (table: string, rows: readonly (readonly (string | number | null)[])[]) => {
    await warehouse.place.execute(`DELETE FROM ${table}`);
    for (const row of rows) {
      await warehouse.place.execute(
        `INSERT INTO ${table} VALUES ('org_1', ${row.map(() => '?').join(', ')})`,
        ...row,
      );
    }
  };
  return {
    folder,
    location: warehouse.place.location,
    execute: (text, ...values) => warehouse.place.execute(text, ...values),
    query: (text, ...values) => warehouse.place.query(text, ...values),
    path,
    rows: (name) => parse(readFileSync(path(name)), { columns: true }),
    day: async (day, tokens, total, at = '2026-03-20') => {
      const byUser = Object.entries(tokens).map(([name, count]) => [
        ...name.split('/'),
        'standard',
        ...FIVE(count),
      ]);
      const sum = Object.values(tokens).reduce((all, count) => all + count, 0);
      const rows = { tokens_daily: [FIVE(total ?? sum)], tokens_daily_by_user_model: byUser };
      await commitDay(warehouse, commitOf({ day, rows, settled: true, pulledAt: `${at}T03:00:00.000Z` }));
    },
    prices: (...prices) => replace('prices', prices),
    teams: (...teams) =>
      replace(
        'user_teams',
        teams.map(([user, from, to, team, costCenter]) => [user, from, to, user, team, null, costCenter]),
      ),
    people: (...people) =>
      replace(
        'people',
        people.map(([person, from, team]) => [person, from, null, null, team, null, null, null]),
      ),
    active: (day, users) =>
      storeUsers(
        warehouse,
        day,
        users.map((user_id) => ({ user_id })),
      ),
    refresh: () => refresh(warehouse),
    issue: (
      name,
      {
        corrects = [],
        month = '2026-02',
        organization,
        provider = 'P',
        now = '2026-03-20',
        emails = { mode: 'keep' as const },
      } = {},
    ) =>
      focus(
        { warehouse: warehouse.place.location, emails },
        {
          organization,
          month: parseMonth(month),
          path: path(name),
          corrects: corrects.map(path),
          names: { provider, issuer: provider, account: null },
        },
        { clock: systemClock(new Date(`${now}T03:00:00Z`)), signal: new AbortController().signal },
      ),
  };
}

/** Adds up files by day, user, model, team and cost center; sums of 0 are left out. */
export function sumOfFiles(
  ...files: readonly (readonly FileRow[])[]
): Record<string, readonly [tokens: number, cost: number]> {
  const sums = new Map<string, readonly [number, number]>();
  for (const row of files.flat()) {
    const { ChargePeriodStart = '', ResourceId, SkuId, SubAccountId, Tags } = row;
    const key = [ChargePeriodStart.slice(0, 10), ResourceId, SkuId, SubAccountId, Tags].join(' ');
    const [tokens, cost] = sums.get(key) ?? [0, 0];
    sums.set(key, [tokens + Number(row['ConsumedQuantity']), cost + Number(row['BilledCost'])]);
  }
  const rounded = [...sums].map(
    ([key, [tokens, cost]]) => [key, [tokens, Math.round(cost * 1e9) / 1e9 + 0] as const] as const,
  );
  return Object.fromEntries(rounded.filter(([, [tokens, cost]]) => tokens !== 0 || cost !== 0));
}
