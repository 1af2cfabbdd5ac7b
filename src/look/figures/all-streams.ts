import { daysFrom, type UtcDay } from '../../core/day.ts';
import { isRestricted } from '../audience/audience.ts';
import type { CalendarDay } from '../charts/calendar.ts';
import type { StreamCoverage } from '../data/coverage.ts';
import { WORST_FIRST } from '../data/day-states.ts';
import type { PageReader } from '../data/reader.ts';
import type { Result } from '../data/result.ts';
import { type Figure, MARK_STATES, type MarkState } from '../page/page.ts';
import { calendarFigure } from './coverage.ts';
import { factOf, withResult } from './listing.ts';

/** How the calendar of all streams is called, also while there is nothing in it. */
export const ALL_STREAMS = {
  id: 'coverage',
  title: 'All five streams',
  unit: 'One square per UTC day, the worst state of its streams',
} as const;

/**
 * One calendar of all streams: a day has the worst state of its streams, and its square names the streams that have it if
 * others are better. The table has the spans of each stream.
 * @param states the number of days in each state, see {@link dayStates}.
 */
export function allStreams(
  { viewer }: PageReader,
  { coverages, states, until }: { coverages: readonly StreamCoverage[]; states: Result; until: UtcDay },
): Figure {
  const counts = MARK_STATES.flatMap((state) => {
    const days = factOf(states, 0, state);
    return (days.value ?? 0) === 0 ? [] : { state, days };
  });
  const content = { days: worstDays(coverages), counts, coverages, until, withErrors: !isRestricted(viewer) };
  return withResult(calendarFigure(ALL_STREAMS, content), states);
}

function worstDays(coverages: readonly StreamCoverage[]): CalendarDay[] {
  const days = new Map<UtcDay, { state: MarkState; streams: string[] }>();
  for (const { stream, spans } of coverages) {
    for (const { from, until, state } of spans) {
      for (const day of daysFrom(from, until)) {
        const worst = days.get(day);
        if (worst === undefined || rank(state) < rank(worst.state))
          days.set(day, { state, streams: [stream] });
        else if (worst.state === state) worst.streams.push(stream);
      }
    }
  }
  return [...days]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, { state, streams }]) => {
      const note = streams.length === coverages.length ? '' : ` (${streams.join(', ')})`;
      return { day, state, note };
    });
}

function rank(state: MarkState): number {
  return WORST_FIRST.indexOf(state);
}
