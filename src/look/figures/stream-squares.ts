import { sql } from '../../../schema/query.ts';
import { daysFrom, shiftDay, type UtcDay } from '../../core/day.ts';
import { contractOf, dailyOf, spanStart } from '../../expected/index.ts';
import type { Period } from '../../metrics/index.ts';
import { runReads } from '../../port/index.ts';
import { calendarRows } from '../charts/calendar.ts';
import { type Figure, MARK_NAMES, MARK_STATES, type MarkState } from '../page.ts';
import type { PageReader } from '../reader.ts';
import { lastDrawn } from '../trust.ts';
import { periodHeading } from '../words.ts';
import { isMark, UNIT_MARK } from './day-states.ts';
import { textCell } from './listing.ts';

/** So many days have squares of their own; the page of data has all of them. */
const SQUARE_DAYS_MAX = 184;
const SQUARES = {
  id: 'coverage',
  title: 'What these numbers stand on',
  unit: 'Each stream and UTC day',
} as const;

/** One square per stream and day of a span, which ends with the last day that is drawn. */
export async function streamSquares(reader: PageReader, span: Period): Promise<Figure> {
  const { filters } = reader;
  const until = lastDrawn(span, filters.today);
  const least = shiftDay(until, 1 - SQUARE_DAYS_MAX);
  const from = spanStart(span.from < least ? least : span.from, until, filters);
  const streams = dailyOf(await runReads(reader.warehouse, contractOf(filters.orgId)));
  const result = await reader.select({
    title: SQUARES.title,
    query: sql`SELECT u.date, u.stream, ${UNIT_MARK} AS state
FROM export_units u
WHERE u.org_id = ${filters.orgId} AND u.stream <> 'readiness' AND u.date BETWEEN ${from} AND ${until}
ORDER BY u.date DESC, u.stream`,
    streams,
    from,
    until,
  });
  const known = new Map(result.rows.map(({ date, stream, state }) => [`${date} ${stream}`, state]));
  const days = daysFrom(from, until);
  const stateOf = (stream: string, day: UtcDay): MarkState => {
    const state = known.get(`${day} ${stream}`);
    return isMark(state) ? state : 'pending';
  };
  const rows = streams.map((name) => ({
    name,
    days: days.map((day) => ({ day, state: stateOf(name, day) })),
  }));
  const found = new Set(rows.flatMap((row) => row.days.map(({ state }) => state)));
  const legend = MARK_STATES.filter((state) => found.has(state));
  const isCut = from > span.from && from === least;
  return {
    kind: 'figure',
    ...SQUARES,
    subtitle: `${SQUARES.unit}${isCut ? '' : ' of both spans'}, ${periodHeading({ from, until })}`,
    chart: calendarRows(rows, `${SQUARES.title}: ${legend.map((state) => MARK_NAMES[state]).join(', ')}`),
    table: {
      columns: [{ title: 'Day' }, ...streams.map((title) => ({ title }))],
      rows: days
        .toReversed()
        .map((day) => [
          textCell(day),
          ...streams.map((stream) => textCell(MARK_NAMES[stateOf(stream, day)])),
        ]),
    },
    isTableFolded: true,
    results: [result],
    notes: [[{ kind: 'link', text: 'All days', path: '/data' }, ' since the first expected one.']],
    legend,
  };
}
