import { FIRST_DAY } from '../../src/core/day.ts';
import { DAILY_STREAMS } from '../../src/core/stream.ts';
import { count, day, key, label, moment, orgColumn, text, type View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './cast.ts';

const streams = `VALUES ${DAILY_STREAMS.map((stream) => `('${stream}')`).join(', ')}`;

const matrix = (cast: Cast) => `
SELECT o.org_id, ${cast('s.stream', 'TEXT')} AS stream, ${cast('c.date', 'TEXT')} AS date,
  ${cast("COALESCE(u.state, 'pending')", 'TEXT')} AS state, ${cast('COALESCE(u.rows, 0)', 'INTEGER')} AS rows,
  u.last_pulled_at, u.settled_at, u.last_error, u.confirmed, u.doubted_at
FROM (SELECT DISTINCT org_id FROM export_units) o
CROSS JOIN streams s
CROSS JOIN calendar c
LEFT JOIN export_units u ON u.org_id = o.org_id AND u.stream = s.stream AND u.date = c.date
`;

// The calendar ends with yesterday by the clock of the database, not with the newest row, so that a job that no longer
// runs is visible.
const sqlite = `
WITH RECURSIVE calendar(date) AS (
  SELECT '${FIRST_DAY}'
  UNION ALL
  SELECT date(date, '+1 day') FROM calendar
  WHERE date < MAX(date('now', '-1 day'), (SELECT COALESCE(MAX(date), '') FROM export_units))
), streams(stream) AS (${streams})
${matrix(castInSqlite)}`;

const postgres = `
WITH calendar(date) AS (
  SELECT CAST(d AS date) FROM generate_series(
    DATE '${FIRST_DAY}',
    GREATEST((now() AT TIME ZONE 'UTC')::date - 1, (SELECT MAX(NULLIF(date, ''))::date FROM export_units)),
    INTERVAL '1 day') AS d
), streams(stream) AS (${streams})
${matrix(plain).replace('u.date = c.date', "u.date = to_char(c.date, 'YYYY-MM-DD')")}`;

export const coverage = {
  name: 'coverage',
  doc: 'One row per organization, daily stream and calendar day, from 2026-01-14 to yesterday, including days never pulled.',
  columns: {
    ...orgColumn,
    stream: key('daily stream'),
    date: day('UTC day'),
    state: text('state of the unit; pending if it was never pulled'),
    rows: count('number of stored rows'),
    last_pulled_at: moment('when the unit was last pulled'),
    settled_at: moment('when the unit settled'),
    last_error: label('why the last pull failed'),
    confirmed: label('why the unit settled: data, agreed or age (never confirmed)'),
    doubted_at: moment('when the current doubt began'),
  },
  select: { sqlite, postgres },
} satisfies View;
