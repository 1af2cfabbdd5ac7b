import { daysFrom, parseMonth, type UtcDay, weekdayOf } from '../../../src/core/day.ts';
import { type CostWorld, DAYS, type Use } from './random-costs.ts';

/** A row of `month_forecast`, and with it of `cost_monthly_by_team`. */
export interface PlainRow {
  readonly month: string;
  readonly team: string;
  readonly currency: string | null;
  readonly tokens_so_far: number | null;
  readonly cost_so_far: number | null;
  readonly cost_forecast: number | null;
}

const FIRST = '2026-01-14';

/** The costs of each team and month, by a plain computation over the rows. */
export function plainCosts(world: CostWorld): PlainRow[] {
  const groups = new Map<string, Use[]>();
  for (const use of world.uses) {
    const month = use.day.slice(0, 7);
    const currency = priceOn(world, use.day)?.currency ?? onlyCurrency(world, month);
    const key = JSON.stringify([month, teamOf(world, use), currency]);
    groups.set(key, [...(groups.get(key) ?? []), use]);
  }
  return Array.from(groups, ([key, uses]) => {
    const [month, team, currency]: [string, string, string | null] = JSON.parse(key);
    const ofTeam = world.uses.filter((use) => use.day.startsWith(month) && teamOf(world, use) === team);
    const lacksPrice = ofTeam.some((use) => (use.tokens ?? 0) !== 0 && priceOn(world, use.day) === undefined);
    const settled = uses.filter(({ day }) => world.settled.has(day));
    const { first, last } = parseMonth(month);
    const days = daysFrom(first, last).filter((day) => day >= FIRST);
    const done = weekdays(DAYS.filter((day) => day.startsWith(month) && world.settled.has(day)));
    const cost = settled.length === 0 ? 0 : costOf(world, settled);
    const forecast = cost === null || done === 0 ? null : (cost / done) * weekdays(days);
    return {
      month,
      team,
      currency,
      tokens_so_far: sum(uses.map(({ tokens }) => tokens)),
      cost_so_far: lacksPrice ? null : costOf(world, uses),
      cost_forecast: lacksPrice || onlyCurrency(world, month) === null ? null : forecast,
    };
  });
}

/** The cost of each day with rows. */
export function plainDays(
  world: CostWorld,
): { date: UtcDay; currency: string | null; cost: number | null }[] {
  return DAYS.map((date) => {
    const uses = world.uses.filter(({ day }) => day === date);
    const price = priceOn(world, date);
    const lacks = price === undefined && uses.some(({ tokens }) => (tokens ?? 0) !== 0);
    const cost = uses.length === 0 ? 0 : costOf(world, uses);
    return { date, currency: price?.currency ?? null, cost: lacks ? null : cost };
  });
}

function priceOn({ prices }: CostWorld, day: UtcDay) {
  return prices.find(({ from, until }) => from <= day && day <= until);
}

function teamOf({ teams }: CostWorld, { user, day }: Use): string {
  const own = teams.find((team) => team.user === user && team.from <= day && day <= team.until);
  return own?.team ?? 'unassigned';
}

function onlyCurrency({ prices }: CostWorld, month: string): string | null {
  const { first, last } = parseMonth(month);
  const own = prices.filter(({ from, until }) => from <= last && until >= first);
  const [only = null, ...others] = new Set(own.map(({ currency }) => currency));
  return others.length > 0 ? null : only;
}

function costOf(world: CostWorld, uses: readonly Use[]): number | null {
  return sum(
    uses.map(({ day, tokens }) =>
      tokens === null ? null : (tokens * (priceOn(world, day)?.price ?? 0)) / 1_000_000,
    ),
  );
}

function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

function weekdays(days: readonly UtcDay[]): number {
  return days.filter((day) => weekdayOf(day) <= 5).length;
}
