import type { Series, UnusualKind } from '../../../src/comparison/unusual.ts';
import { daysFrom, parseDay, shiftDay, type UtcDay, weekdayOf } from '../../../src/core/day.ts';
import type { Random } from '../random/seed.ts';

/** The week that is judged, and the thirteen weeks before it. */
export const WEEK = { from: parseDay('2026-05-04'), until: parseDay('2026-05-10') };
export const FIRST = shiftDay(WEEK.from, -7 * 13);
export const DAYS = daysFrom(FIRST, WEEK.until);

interface Person {
  readonly team: string;
  readonly model: string;
  readonly scale: number;
  readonly noise: number;
  readonly activity: number;
}

/** The credits of one person with one model on a day. */
export interface Use {
  readonly day: UtcDay;
  readonly user: string;
  readonly team: string;
  readonly model: string;
  value: number;
}

/**
 * An organization in which nothing unusual happens: people of very different use who are not there every day, weekends with little,
 * growth or decline, days that are better or worse for all, and small teams with many days without a value.
 */
export function quietOrganization(random: Random): Use[] {
  const size = Math.round(8 * 50 ** random());
  const teams = 1 + Math.floor(random() * Math.min(12, size / 3));
  const models = 2 + Math.floor(random() * 4);
  const [growth, weekend, common] = [0.04 * (random() - 0.3), 0.02 + 0.15 * random(), 0.03 + 0.09 * random()];
  const people = Array.from(
    { length: size },
    (): Person => ({
      team: `t-${Math.floor(teams * random() ** 1.5)}`,
      model: `m-${Math.floor(models * random() ** 2)}`,
      scale: 100_000 * Math.exp(0.9 * normal(random)),
      noise: 0.25 + 0.3 * random(),
      activity: 0.5 + 0.48 * random(),
    }),
  );
  return DAYS.flatMap((day, at) => {
    const isWeekend = weekdayOf(day) > 5;
    const level = (1 + growth) ** (at / 7) * Math.exp(common * normal(random));
    return people.flatMap(({ team, model, scale, noise, activity }, index) => {
      if (random() > activity * (isWeekend ? weekend : 1)) return [];
      const value = Math.round(scale * level * Math.exp(noise * normal(random)));
      const other = random() < 0.15 ? `m-${Math.floor(models * random())}` : model;
      return [{ day, user: `u-${index}`, team, model: other, value }];
    });
  });
}

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** The sums of an organization by day, team, model and person. */
export function seriesOf(uses: readonly Use[]): Series[] {
  const sums = new Map<string, { kind: UnusualKind; name: string | null; values: Map<UtcDay, number> }>();
  const add = (kind: UnusualKind, name: string | null, { day, value }: Use) => {
    const series = sums.get(`${kind} ${name}`) ?? { kind, name, values: new Map() };
    series.values.set(day, (series.values.get(day) ?? 0) + value);
    sums.set(`${kind} ${name}`, series);
  };
  for (const use of uses) {
    add('date', null, use);
    add('team', use.team, use);
    add('model', use.model, use);
    add('user', use.user, use);
  }
  return [...sums.values()];
}
