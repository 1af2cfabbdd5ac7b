import { FIRST_DAY } from '../../src/core/day.ts';
import { count, day, key, moment, orgColumn, type View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './cast.ts';

// The stream with the sessions decides which day was exported last. A day that still awaits its batch does not count.
const EXPORTED = `stream = 'activity' AND state IN ('loaded', 'empty', 'quarantined')`;

const counts = (cast: Cast) => `
SELECT ${cast('o.org_id', 'TEXT')} AS org_id, ${cast('o.since', 'TEXT')} AS since,
  ${cast('COUNT(DISTINCT h.session_id)', 'INTEGER')} AS sessions,
  ${cast("COALESCE(SUM(CASE WHEN h.hook_event_name = 'Stop' THEN 1 ELSE 0 END), 0)", 'INTEGER')} AS stops,
  ${cast("COALESCE(SUM(CASE WHEN h.hook_event_name = 'SubagentStop' THEN 1 ELSE 0 END), 0)", 'INTEGER')} AS subagent_stops,
  ${cast("COALESCE(SUM(CASE WHEN h.hook_event_name = 'Notification' THEN 1 ELSE 0 END), 0)", 'INTEGER')} AS notifications,
  ${cast("COALESCE(SUM(CASE WHEN h.hook_event_name = 'SessionEnd' THEN 1 ELSE 0 END), 0)", 'INTEGER')} AS session_ends,
  ${cast('COUNT(h.event_id)', 'INTEGER')} AS events,
  ${cast('MAX(h.received_at)', 'TEXT')} AS last_event_at
FROM organizations o`;

const sqlite = `
WITH organizations AS (
  SELECT known.org_id, COALESCE(
    (SELECT date(MAX(date), '+1 day') FROM export_units u WHERE u.org_id = known.org_id AND ${EXPORTED}),
    '${FIRST_DAY}') AS since
  FROM (SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events) known
)
${counts(castInSqlite)}
LEFT JOIN hook_events h ON h.org_id = o.org_id AND h.received_at >= o.since
GROUP BY o.org_id, o.since
`;

// A distributed PostgreSQL rejects a subquery per row of a UNION, so the last days are joined.
const postgres = `
WITH organizations AS (
  SELECT known.org_id, COALESCE(CAST(e.last_day AS date) + 1, DATE '${FIRST_DAY}') AS since
  FROM (SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events) known
  LEFT JOIN (SELECT org_id, MAX(date) AS last_day FROM export_units WHERE ${EXPORTED} GROUP BY org_id) e
    ON e.org_id = known.org_id
)
${counts(plain)}
LEFT JOIN hook_events h ON h.org_id = o.org_id AND h.received_at >= (CAST(o.since AS timestamp) AT TIME ZONE 'UTC')
GROUP BY o.org_id, o.since
`;

export const todaySoFar = {
  name: 'today_so_far',
  doc:
    'Counts of hook events since the last exported day: one row per organization. Analytics arrive a day late, hook ' +
    'events do not; they cover only clients with installed hooks.',
  columns: {
    org_id: key(`${orgColumn.org_id.doc}; '' for events of a warehouse that knows none or several`),
    since: day('the first UTC day that is not exported yet'),
    sessions: count('number of distinct sessions with an event'),
    stops: count('number of tasks that the agent finished'),
    subagent_stops: count('number of tasks that subagents finished'),
    notifications: count('how often the agent waited for attention'),
    session_ends: count('number of sessions that ended'),
    events: count('number of all hook events'),
    last_event_at: moment('when the latest event was received'),
  },
  select: { sqlite, postgres },
} satisfies View;
