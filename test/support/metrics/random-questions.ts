import { DIMENSIONS, type Dimension } from '../../../schema/metrics/define.ts';
import { FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import type { MetricQuestion } from '../../../src/metrics/question.ts';
import { pick, type Random } from '../random/seed.ts';
import { addDays } from './calendar.ts';
import type { Definition } from './definition.ts';
import type { RandomWorld } from './random-world.ts';
import { definitions } from './reference.ts';

const TEAMS = ['core', "o'ps", null, 'nobody'] as const;

/**
 * A question that can be answered: any metric, its dimensions in any order, any filter that it has, any period,
 * alone or in one statement with others.
 */
export function randomQuestion(world: RandomWorld, random: Random): MetricQuestion {
  const [first = '', ...others] = Object.keys(definitions);
  const metric = pick(random, [first, ...others]);
  const definition = definitions[metric];
  if (definition === undefined) throw new Error(`the reference does not define ${metric}`);
  const { from, until } = randomPeriod(world, random);
  const days = definition.singleDays && random() < 0.3 ? { from: until, until } : { from, until };
  const by = randomDimensions(definition, random, days.from === days.until);
  return {
    metric: metric,
    together: random() < 0.5 ? [metric, ...Object.keys(definitions).filter(() => random() < 0.2)] : undefined,
    orgId: world.orgId,
    by: metric === 'published_client_dau' && !by.includes('client') ? [...by, 'client'] : by,
    from: days.from === FIRST_DAY && random() < 0.5 ? undefined : parseDay(days.from),
    until: parseDay(days.until),
    team: definition.byTeam && random() < 0.3 ? pick(random, TEAMS) : undefined,
    user: definition.byUser && random() < 0.2 ? pick(random, ['user 1', 'user 2', 'nobody']) : undefined,
  };
}

function randomPeriod({ firstDay, lastDay }: RandomWorld, random: Random): { from: string; until: string } {
  const roll = random();
  if (roll < 0.3) return { from: FIRST_DAY, until: lastDay };
  const from = addDays(firstDay, Math.floor(random() * 20) - 3);
  const until = addDays(from, Math.floor(random() * 40));
  return { from: from < FIRST_DAY ? FIRST_DAY : from, until: until < FIRST_DAY ? FIRST_DAY : until };
}

function randomDimensions(
  { dimensions, singleDays }: Definition,
  random: Random,
  isOneDay: boolean,
): Dimension[] {
  const grain = pick<'date' | 'week' | 'month' | null>(random, ['date', 'week', 'month', null]);
  const some: readonly Dimension[] = grain === null ? [] : [grain];
  const grains: readonly Dimension[] = singleDays && !isOneDay ? ['date'] : some;
  const others = DIMENSIONS.filter((name) => dimensions.includes(name) && random() < 0.4);
  return random() < 0.5 ? [...grains, ...others] : [...others, ...grains];
}
