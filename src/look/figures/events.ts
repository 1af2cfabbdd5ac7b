import type { Grain } from '../../../schema/metrics/dictionary.ts';
import { sql } from '../../../schema/query.ts';
import { monthOf, parseDay, shiftDay, type UtcDay, weekdayOf } from '../../core/day.ts';
import type { Period } from '../../metrics/index.ts';
import type { Result } from '../numbers.ts';
import type { PageReader } from '../reader.ts';

/** What happened on a day. */
export interface DayEvent {
  readonly day: UtcDay;
  readonly text: string;
}

/** The events of days, and the query that found them. */
interface Events {
  readonly events: readonly DayEvent[];
  readonly results: readonly Result[];
}

/**
 * What happened in a period and explains its numbers, the oldest first: the events that are about all, those of the team if there is
 * one, and changes of the price where the numbers are costs.
 */
export async function readEvents(
  reader: PageReader,
  { from, until }: Period,
  { withPrices }: { withPrices: boolean },
): Promise<Events> {
  const { orgId, team } = reader.filters;
  const teams = typeof team === 'string' ? sql`team IN ('', ${team})` : sql`team = ''`;
  const loaded = await reader.select({
    title: 'Events',
    query: sql`SELECT date, text FROM events
WHERE org_id = ${orgId} AND ${teams} AND date BETWEEN ${from} AND ${until} ORDER BY date, team, text`,
    ...{ streams: ['users'], from, until },
  });
  const events = loaded.rows.map((row) => ({
    day: parseDay(String(row['date'])),
    text: String(row['text']),
  }));
  if (!withPrices) return { events, results: loaded.rows.length === 0 ? [] : [loaded] };
  const prices = await reader.select({
    title: 'Changes of the price',
    query: sql`SELECT valid_from, price_per_million, currency FROM prices
WHERE org_id = ${orgId} AND valid_from BETWEEN ${shiftDay(from, 1)} AND ${until} ORDER BY valid_from`,
    ...{ streams: ['users'], from, until },
  });
  const changes = prices.rows.map((row) => ({
    day: parseDay(String(row['valid_from'])),
    text: `price ${Number(row['price_per_million']).toFixed(2)} ${String(row['currency'])}`,
  }));
  return {
    events: [...events, ...changes].toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0)),
    results: [loaded, prices].filter(({ rows }) => rows.length > 0),
  };
}

/** The bucket in which a day lies: itself, the Monday of its week, or its month. */
export function bucketOfDay(day: UtcDay, grain: Grain): string {
  if (grain === 'week') return shiftDay(day, 1 - weekdayOf(day));
  return grain === 'month' ? monthOf(day).slice(0, 7) : day;
}
