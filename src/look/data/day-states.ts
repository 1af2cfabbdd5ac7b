import { sql } from '../../../schema/query.ts';
import { FIRST_DAY, type UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import { storedUnit } from '../../metrics/period.ts';
import { PHRASES } from '../../metrics/query/select.ts';
import { MARK_STATES, type MarkState } from '../page/page.ts';
import { UNIT_MARK } from './coverage.ts';
import type { PageReader } from './reader.ts';
import type { Result } from './result.ts';

/** The states of a day, worst first: a day has the worst state of its streams. It is empty only if all streams are. */
export const WORST_FIRST: readonly MarkState[] = [
  'failed',
  'doubted',
  'quarantined',
  'pending',
  'awaiting',
  'open',
  'loaded',
  'empty',
];

/**
 * Counts the days from the first day of the service to `until`: one row with all `days`, those `stored` in all five streams,
 * and one column per state with the days of which it is the worst.
 */
export function dayStates({ warehouse, filters, select }: PageReader, until: UtcDay): Promise<Result> {
  const phrases = PHRASES[warehouse.dialect];
  const streams = sql.join(
    DAILY_STREAMS.map((stream) => sql`(${stream})`),
    sql`, `,
  );
  const rank = sql.join(
    WORST_FIRST.map((state, index) => sql`WHEN ${state} THEN ${sql.raw(String(index))}`),
    sql` `,
  );
  const counts = MARK_STATES.map(
    (state) =>
      sql`,\n  SUM(CASE WHEN worst = ${sql.raw(String(WORST_FIRST.indexOf(state)))} THEN 1 ELSE 0 END) AS ${sql.raw(state)}`,
  );
  return select({
    title: 'Days by their worst state',
    query: sql`
WITH RECURSIVE calendar (date) AS (
${phrases.calendar('calendar', FIRST_DAY, until)}
), streams (stream) AS (
  VALUES ${streams}
), units AS (
  SELECT c.date, ${UNIT_MARK} AS state,
    CASE WHEN ${storedUnit('u')} THEN 1 ELSE 0 END AS stored
  FROM calendar c
  CROSS JOIN streams s
  LEFT JOIN export_units u ON u.org_id = ${filters.orgId} AND u.stream = s.stream
    AND u.date = ${phrases.textOf(sql`c.date`)}
), days AS (
  SELECT date, MIN(CASE state ${rank} END) AS worst, MIN(stored) AS stored
  FROM units GROUP BY date
)
SELECT COUNT(*) AS days, SUM(stored) AS stored${sql.join(counts, sql``)}
FROM days`,
    streams: DAILY_STREAMS,
    from: FIRST_DAY,
    until,
  });
}
