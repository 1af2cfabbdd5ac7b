import { FIRST_DAY, shiftDay } from '../../core/day.ts';
import { finestGrainOf } from '../audience/audience.ts';
import type { PageReader } from '../data/reader.ts';
import type { Figure } from '../page/page.ts';
import { perDay } from './per-day.ts';
import { perWeek } from './per-week.ts';

const DAYS = 88;

/** Credits of the last 88 days, one bar per day; per week for readers who may not see single days. */
export function recentCredits(reader: PageReader): Promise<Figure> {
  const { until } = reader.filters;
  const spec = { metric: 'billable_tokens', unit: 'Million', format: 'compact', divisor: 1e6 } as const;
  if (finestGrainOf(reader.viewer) !== 'date') {
    return perWeek(reader, { ...spec, id: 'credits-per-week', title: 'Credits per week' });
  }
  const from = shiftDay(until, 1 - DAYS);
  const period = { from: from < FIRST_DAY ? FIRST_DAY : from, until };
  return perDay(reader, { ...spec, id: 'credits-per-day', title: 'Credits per day', period });
}
