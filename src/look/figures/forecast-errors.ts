import { forecastOf, pricedOn, type SQL, sql, workingDay } from '../../../schema/query.ts';
import { FIRST_DAY, monthEndOf, monthOf, parseDay, shiftDay, type UtcDay } from '../../core/day.ts';
import { spanStart } from '../../expected/index.ts';
import { PHRASES, teamsInPlaceOfTable, withSql } from '../../metrics/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import { cellOf, openDaysOf, type Result, type ShownNumber } from '../numbers.ts';
import type { PageReader } from '../reader.ts';

/** The name of all teams together in the forecast errors. */
export const ALL = '';

/**
 * Actual ÷ forecast of each month before, had it been forecast on the same day of the month: by team, and of all together. From what is
 * stored now. Null if no month was complete, or no working day of this one is settled.
 */
export async function readErrors(reader: PageReader, month: UtcDay, used: Result): Promise<Result | null> {
  const { filters } = reader;
  const { from, until, days } = used.basis;
  const open = new Set([...days.unsettled, ...days.missing]);
  let settled = until;
  while (settled >= from && open.has(settled)) settled = shiftDay(settled, -1);
  const last = shiftDay(month, -1);
  const least = spanStart(FIRST_DAY, last, filters);
  const first = least === monthOf(least) ? least : shiftDay(monthEndOf(least), 1);
  if (settled < from || first > last || settled === monthEndOf(month)) return null;
  return reader.select({
    title: 'Forecast errors of the months before',
    query: await errorsQuery(reader, { first, last, day: Number(settled.slice(8)) }),
    streams: ['users'],
    ...{ from: first, until: last, isKept: true },
  });
}

async function errorsQuery(
  { warehouse, filters: { orgId } }: PageReader,
  { first, last, day }: { first: UtcDay; last: UtcDay; day: number },
): Promise<SQL> {
  const { textOf } = PHRASES[warehouse.dialect];
  const number = sql.raw(String(day));
  const dayOfMonth = sql`CAST(substr(${textOf(sql`c.date`)}, 9, 2) AS INTEGER)`;
  const works = sql.raw(workingDay('c', 'o.org_id'));
  const forecast = sql.raw(forecastOf({ soFar: 'n.so_far', days: 'w.so_far', of: 'w.weekdays' }));
  return withSql(
    [
      ...(await teamsInPlaceOfTable(warehouse, orgId)),
      {
        name: 'team_days',
        body: sql`  SELECT u.date, COALESCE(t.team, ${UNASSIGNED}) AS team, SUM(u.billable_tokens) AS credits
  FROM user_daily u
  LEFT JOIN user_teams t ON t.org_id = ${orgId} AND t.user_id = u.user_id AND u.date BETWEEN t.valid_from AND t.valid_to
  WHERE u.org_id = ${orgId} AND u.date BETWEEN ${first} AND ${last}
  GROUP BY u.date, t.team`,
      },
      {
        name: 'calendar',
        body: sql`  SELECT c.date, c.month, ${dayOfMonth} AS day, ${works} AS weekday
  FROM (SELECT ${orgId} AS org_id) o CROSS JOIN dates c WHERE c.date BETWEEN ${first} AND ${last}`,
      },
      {
        name: 'weekdays',
        body: sql`  SELECT month, SUM(weekday) AS weekdays, SUM(CASE WHEN day <= ${number} THEN weekday ELSE 0 END) AS so_far
  FROM calendar GROUP BY month`,
      },
      {
        name: 'costs',
        body: sql`  SELECT c.month, d.team, SUM(d.credits * p.price_per_million) / 1000000 AS cost,
    SUM(CASE WHEN c.day <= ${number} THEN d.credits * p.price_per_million ELSE 0 END) / 1000000 AS so_far,
    SUM(CASE WHEN p.currency IS NULL AND d.credits <> 0 THEN 1 ELSE 0 END) AS lacking
  FROM team_days d
  JOIN calendar c ON c.date = d.date
  LEFT JOIN prices p ON p.org_id = ${orgId} AND ${sql.raw(pricedOn('d.date'))}
  GROUP BY c.month, d.team`,
      },
      {
        name: 'named',
        body: sql`  SELECT month, team, cost, so_far, lacking FROM costs
  UNION ALL SELECT month, ${ALL}, SUM(cost), SUM(so_far), SUM(lacking) FROM costs GROUP BY month`,
      },
    ],
    sql`SELECT team, month, cost, forecast, cost / forecast AS ratio
FROM (SELECT n.team, n.month, n.cost, ${forecast} AS forecast
  FROM named n JOIN weekdays w ON w.month = n.month
  WHERE n.lacking = 0 AND n.so_far > 0) f
WHERE forecast IS NOT NULL ORDER BY team, month`,
  );
}

/** The errors of the complete months for a team, in their order. */
export function ratiosOf(errors: Result | null, team: string): ShownNumber[] {
  if (errors === null) return [];
  const open = new Set([...openDaysOf(errors.basis), ...errors.basis.days.missing].map(monthOf));
  return errors.rows.flatMap((row, index) =>
    row['team'] === team && !open.has(parseDay(`${row['month']}-01`))
      ? [cellOf(errors, index, 'decimal', { column: 'ratio', open: null })]
      : [],
  );
}
