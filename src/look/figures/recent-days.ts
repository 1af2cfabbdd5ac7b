import { finestGrainOf } from '../audience/audience.ts';
import type { PageReader } from '../data/reader.ts';
import type { Figure } from '../page/page.ts';
import { overTime } from './over-time.ts';

/** Credits of the last 88 days, one bar per day; per week for readers who may not see single days. */
export function recentCredits(reader: PageReader): Promise<Figure> {
  const spec = { draw: 'bars', unit: 'Million', format: 'compact', divisor: 1e6, wide: true } as const;
  const named = (title: string) => ({
    title,
    metrics: [{ metric: 'billable_tokens', name: title }] as const,
  });
  return finestGrainOf(reader.viewer) === 'date'
    ? overTime(reader, {
        ...spec,
        id: 'credits-per-day',
        ...named('Credits per day'),
        grain: 'date',
        days: 88,
      })
    : overTime(reader, { ...spec, id: 'credits-per-week', ...named('Credits per week'), grain: 'week' });
}
