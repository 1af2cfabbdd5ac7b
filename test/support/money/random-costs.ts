import { daysFrom, parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { pick, type Random } from '../random/seed.ts';
import type { Foreign } from '../warehouse/each-database.ts';

export const ORG = 'org_1';
const USERS = ['u-1', 'u-2', 'u-3', 'u-4'];
/** The end of one month, a whole one, and the beginning of another. */
export const DAYS = daysFrom(parseDay('2026-01-28'), parseDay('2026-03-04'));

/** The credits of a user on a day. */
export interface Use {
  readonly user: string;
  readonly day: UtcDay;
  readonly tokens: number | null;
}

/** A period of a person or price. */
interface Period {
  readonly from: UtcDay;
  readonly until: UtcDay;
}

/** What a warehouse about costs holds. */
export interface CostWorld {
  readonly uses: readonly Use[];
  readonly teams: readonly (Period & { readonly user: string; readonly team: string | null })[];
  readonly prices: readonly (Period & { readonly currency: string; readonly price: number })[];
  readonly settled: ReadonlySet<UtcDay>;
}

/** A random world: users who move, gaps between prices, sometimes a second currency, days not settled. */
export function randomCosts(random: Random): CostWorld {
  const currencies = pick(random, [['EUR'], ['EUR'], ['EUR', 'USD']] as const);
  const last = DAYS.length - 1 - Math.floor(random() * 4);
  return {
    uses: USERS.flatMap((user) =>
      DAYS.filter(() => random() < 0.7).map((day) => ({
        user,
        day,
        tokens: random() < 0.1 ? null : random() < 0.1 ? 0 : Math.ceil(random() * 9_000_000),
      })),
    ),
    teams: USERS.slice(1).flatMap((user) =>
      periods(random, 2, 0.3).map((period) => ({
        ...period,
        user,
        team: pick(random, ['core', 'web', null]),
      })),
    ),
    prices: periods(random, 3, 0.2).map((period) => ({
      ...period,
      currency: currencies[Math.floor(random() * currencies.length)] ?? 'EUR',
      price: Math.ceil(random() * 400) / 100,
    })),
    settled: new Set(random() < 0.4 ? DAYS : DAYS.slice(0, last)),
  };
}

/** Periods that follow each other, with gaps at random. */
function periods(random: Random, countMax: number, gap: number): Period[] {
  const count = 1 + Math.floor(random() * countMax);
  const starts = Array.from({ length: count }, () => Math.floor(random() * DAYS.length));
  const days = [...new Set([0, ...starts])].toSorted((a, b) => a - b);
  return days
    .map((start, index) => {
      const next = days[index + 1] ?? DAYS.length + 30;
      return {
        from: shiftDay(parseDay('2026-01-28'), start),
        until: shiftDay(parseDay('2026-01-28'), next - 1),
      };
    })
    .filter(() => random() >= gap);
}

const quoted = (value: string | number | null) =>
  value === null ? 'NULL' : typeof value === 'number' ? String(value) : `'${value}'`;

async function insert(place: Foreign, head: string, rows: readonly (readonly (string | number | null)[])[]) {
  if (rows.length === 0) return;
  await place.execute(
    `INSERT INTO ${head} VALUES ${rows.map((row) => `(${row.map(quoted).join(', ')})`).join(', ')}`,
  );
}

/** Writes a world in place of an earlier one, as runs and loads leave it before the rollups are computed. */
export async function storeCosts(place: Foreign, { uses, teams, prices, settled }: CostWorld): Promise<void> {
  for (const table of ['user_daily', 'export_units', 'people', 'prices', 'rollup_marks', 'user_monthly']) {
    await place.execute(`DELETE FROM ${table}`);
  }
  await insert(
    place,
    'user_daily (org_id, date, user_id, billable_tokens)',
    uses.map(({ user, day, tokens }) => [ORG, day, user, tokens]),
  );
  await insert(
    place,
    'export_units (org_id, stream, date, state, rows, content_sha256, attempts, requests, first_loaded_at, settled_at, confirmed)',
    DAYS.map((day) => {
      const at = settled.has(day) ? '2026-03-20T00:00:00.000Z' : null;
      const rows = uses.filter((use) => use.day === day).length;
      return [
        ORG,
        'users',
        day,
        'loaded',
        rows,
        `sha-${day}`,
        1,
        1,
        '2026-03-06T00:00:00.000Z',
        at,
        at && 'data',
      ];
    }),
  );
  await insert(
    place,
    'people (org_id, person, valid_from, valid_to, team)',
    teams.map(({ user, from, until, team }) => [ORG, user, from, until, team]),
  );
  await insert(
    place,
    'prices (org_id, valid_from, valid_to, currency, price_per_million)',
    prices.map(({ from, until, currency, price }) => [ORG, from, until, currency, price]),
  );
}
