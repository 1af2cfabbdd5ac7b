import { FIRST_DAY } from '../../src/core/day.ts';
import { DAILY_STREAMS, STREAMS } from '../../src/core/stream.ts';
import {
  count,
  day,
  flag,
  instant,
  key,
  label,
  metric,
  moment,
  orgColumn,
  ratio,
  text,
  type View,
} from '../define.ts';
import { tablesOf } from '../tables.ts';
import { type Cast, castInSqlite, holds, plain } from './dialect.ts';

const streams = `VALUES ${DAILY_STREAMS.map((stream) => `('${stream}')`).join(', ')}`;

/** The contracts. What cannot be read is NULL, and counts as everything, as `src/expected/` reads it. */
const contracts = (firstDay: string) => `
SELECT org_id, ${firstDay} AS first_day,
  CASE WHEN ${STREAMS.map((stream) => holds("',' || streams || ','", `'${stream}'`)).join('\n    OR ')}
  THEN ',' || streams || ',' END AS streams
FROM contracts`;

/** Expressions: the day as the ledger has it, and yesterday. */
interface Matrix {
  readonly date: string;
  readonly yesterday: string;
}

/** The newest day of each organization whose people have expired: it and those before are not expected. */
const EXPIRED = `expired AS (
  SELECT org_id, MAX(date) AS last_day FROM export_units WHERE stream = 'users' AND state = 'expired' GROUP BY org_id
)`;

/** Before the first run of this version there is no row of `contracts`, and everything is expected. */
function matrix(cast: Cast, { date, yesterday }: Matrix): string {
  const isExpected = `(c.date <= ${yesterday} AND (k.first_day IS NULL OR c.date >= k.first_day)
  AND (s.stream <> 'users' OR x.last_day IS NULL OR ${date} > x.last_day)
  AND (k.streams IS NULL OR ${holds('k.streams', 's.stream')}))`;
  return `
SELECT o.org_id, ${cast('s.stream', 'TEXT')} AS stream, ${cast('c.date', 'TEXT')} AS date,
  ${cast("COALESCE(u.state, 'pending')", 'TEXT')} AS state, ${cast('COALESCE(u.rows, 0)', 'INTEGER')} AS rows,
  u.last_pulled_at, u.settled_at, u.last_error, u.confirmed, u.doubted_at,
  ${cast(isExpected, 'INTEGER')} AS is_expected
FROM (SELECT DISTINCT org_id FROM export_units) o
CROSS JOIN streams s
CROSS JOIN calendar c
LEFT JOIN terms k ON k.org_id = o.org_id
LEFT JOIN expired x ON x.org_id = o.org_id
LEFT JOIN export_units u ON u.org_id = o.org_id AND u.stream = s.stream AND u.date = ${date}
WHERE u.state IS NOT NULL OR ${isExpected}
`;
}

// The calendar ends with yesterday by the clock of the database, not with the newest row, so that a job that no longer
// runs is visible.
const yesterdayInSqlite = "date('now', '-1 day')";
const sqlite = `
WITH RECURSIVE calendar(date) AS (
  SELECT '${FIRST_DAY}'
  UNION ALL
  SELECT date(date, '+1 day') FROM calendar
  WHERE date < MAX(${yesterdayInSqlite}, (SELECT COALESCE(MAX(date), '') FROM export_units))
), streams(stream) AS (${streams}), ${EXPIRED}, terms AS (${contracts('CASE WHEN date(first_day) = first_day THEN first_day END')}
)
${matrix(castInSqlite, { date: 'c.date', yesterday: yesterdayInSqlite })}`;

const yesterdayInPostgres = "(now() AT TIME ZONE 'UTC')::date - 1";
const postgres = `
WITH calendar(date) AS (
  SELECT CAST(d AS date) FROM generate_series(
    DATE '${FIRST_DAY}',
    GREATEST(${yesterdayInPostgres}, (SELECT MAX(NULLIF(date, ''))::date FROM export_units)),
    INTERVAL '1 day') AS d
), streams(stream) AS (${streams}), ${EXPIRED}, terms AS (${contracts('first_day')}
)
${matrix(plain, { date: "to_char(c.date, 'YYYY-MM-DD')", yesterday: yesterdayInPostgres })}`;

export const coverage = {
  name: 'coverage',
  doc: 'One row per organization, daily stream and calendar day that is expected by `contracts`, up to yesterday and including days never pulled; and one per other stored unit.',
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
    is_expected: flag(
      '1 for the days and streams that `contracts` names, up to yesterday; 0 for others that are stored, and for days whose people have expired',
    ),
  },
  select: { sqlite, postgres },
} satisfies View;

const SIDES = ['before', 'after'] as const;
type Side = (typeof SIDES)[number];

/** Selects the table, column and value of each number in one side of the restatements. */
type NumbersOf = (side: Side) => string;

const UNIT = 'r.org_id, r.stream, r.date, r.detected_at';

// A restatement has the sums of its main table at the top, and the number of rows of all tables of the unit.
const mainTable = `CASE r.stream ${DAILY_STREAMS.map(
  (stream) => `WHEN '${stream}' THEN '${tablesOf(stream)[0]?.name}'`,
).join(' ')} END`;
const tableOf = (name: string) => `CASE WHEN ${name} = 'rows' THEN '' ELSE ${mainTable} END`;

const numbersInSqlite: NumbersOf = (side) => `
  SELECT ${UNIT}, '${side}' AS side, ${tableOf('n.key')} AS table_name, n.key AS column_name, n.value AS value
  FROM restatements r, json_each(r."${side}") n
  WHERE r.date <> '' AND n.type IN ('integer', 'real', 'null') AND n.key <> 'content_sha256'
  UNION ALL
  SELECT ${UNIT}, '${side}', t.key, n.key, n.value
  FROM restatements r, json_each(r."${side}", '$.breakdowns') t, json_each(t.value) n
  WHERE r.date <> '' AND n.type IN ('integer', 'real', 'null')`;

const numbersInPostgres: NumbersOf = (side) => `
  SELECT ${UNIT}, '${side}' AS side, ${tableOf('n.key')} AS table_name, n.key AS column_name,
    CAST(n.value #>> '{}' AS double precision) AS value
  FROM restatements r, json_each(r."${side}") n
  WHERE r.date <> '' AND json_typeof(n.value) IN ('number', 'null') AND n.key <> 'content_sha256'
  UNION ALL
  SELECT ${UNIT}, '${side}', t.key, n.key, CAST(n.value #>> '{}' AS double precision)
  FROM restatements r, json_each(r."${side}" -> 'breakdowns') t, json_each(t.value) n
  WHERE r.date <> '' AND json_typeof(n.value) IN ('number', 'null')`;

const selectRestated = (
  cast: Cast,
  { numbersOf, date, differs }: { numbersOf: NumbersOf; date: string; differs: string },
) => `
WITH numbers AS (${SIDES.map(numbersOf).join('\n  UNION ALL')}
), changes AS (
  SELECT org_id, stream, date, detected_at, table_name, column_name,
    MAX(CASE WHEN side = 'before' THEN value END) AS value_before,
    MAX(CASE WHEN side = 'after' THEN value END) AS value_after
  FROM numbers
  GROUP BY org_id, stream, date, detected_at, table_name, column_name
  HAVING MAX(CASE WHEN side = 'before' THEN value END) ${differs} MAX(CASE WHEN side = 'after' THEN value END)
)
SELECT r.org_id, r.stream, ${date} AS date, r.detected_at,
  ${cast("COALESCE(c.table_name, '')", 'TEXT')} AS table_name,
  ${cast("COALESCE(c.column_name, '')", 'TEXT')} AS column_name,
  ${cast('c.value_before', 'REAL')} AS value_before,
  ${cast('c.value_after', 'REAL')} AS value_after,
  ${cast(
    'CASE WHEN c.column_name IS NOT NULL THEN COALESCE(c.value_after, 0) - COALESCE(c.value_before, 0) END',
    'REAL',
  )} AS change
FROM restatements r
LEFT JOIN changes c ON c.org_id = r.org_id AND c.stream = r.stream AND c.date = r.date AND c.detected_at = r.detected_at
WHERE r.date <> ''
`;

export const restatedDays = {
  name: 'restated_days',
  doc:
    'Numbers that the service changed after they were stored, before and after: one row per restatement of a day and ' +
    'changed sum. A restatement that changed no sum, for example only an email address, has one row without a number.',
  columns: {
    ...orgColumn,
    stream: key('daily stream'),
    date: day('UTC day whose numbers changed'),
    detected_at: instant('when a pull found the change'),
    table_name: key("table with the number; '' for the number of rows in all tables of the unit"),
    column_name: key("column whose sum over the day changed, or rows; '' if no sum changed"),
    value_before: ratio('sum over the day before the change; NULL if there was none'),
    value_after: ratio('sum over the day after the change; NULL if there is none'),
    change: metric(
      'value_after minus value_before, with NULL as 0; NULL if no sum changed. Add it up within one column_name only',
    ),
  },
  select: {
    sqlite: selectRestated(castInSqlite, { numbersOf: numbersInSqlite, date: 'r.date', differs: 'IS NOT' }),
    postgres: selectRestated(plain, {
      numbersOf: numbersInPostgres,
      date: 'CAST(r.date AS date)',
      differs: 'IS DISTINCT FROM',
    }),
  },
} satisfies View;
