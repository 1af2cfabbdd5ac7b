import { FIRST_DAY } from '../../src/core/day.ts';
import { count, day, key, moment, orgColumn, type View } from '../define.ts';

// The stream that counts sessions tells which day is the last that was exported; a day that awaits its batch is not.
const EXPORTED = `stream = 'activity' AND state IN ('loaded', 'empty', 'quarantined')`;

const counts = `
SELECT o.org_id, o.since,
  COUNT(DISTINCT h.session_id) AS sessions,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'Stop' THEN 1 ELSE 0 END), 0) AS stops,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'SubagentStop' THEN 1 ELSE 0 END), 0) AS subagent_stops,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'Notification' THEN 1 ELSE 0 END), 0) AS notifications,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'SessionEnd' THEN 1 ELSE 0 END), 0) AS session_ends,
  COUNT(h.event_id) AS events,
  MAX(h.received_at) AS last_event_at
FROM organizations o`;

const sqlite = `
WITH organizations AS (
  SELECT known.org_id, COALESCE(
    (SELECT date(MAX(date), '+1 day') FROM export_units u WHERE u.org_id = known.org_id AND ${EXPORTED}),
    '${FIRST_DAY}') AS since
  FROM (SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events) known
)
${counts}
LEFT JOIN hook_events h ON h.org_id = o.org_id AND h.received_at >= o.since
GROUP BY o.org_id, o.since
`;

// A subquery for each row of a UNION is what a distributed PostgreSQL refuses, so the last days are joined.
const postgres = `
WITH organizations AS (
  SELECT known.org_id, COALESCE(CAST(e.last_day AS date) + 1, DATE '${FIRST_DAY}') AS since
  FROM (SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events) known
  LEFT JOIN (SELECT org_id, MAX(date) AS last_day FROM export_units WHERE ${EXPORTED} GROUP BY org_id) e
    ON e.org_id = known.org_id
)
${counts}
LEFT JOIN hook_events h ON h.org_id = o.org_id AND h.received_at >= (CAST(o.since AS timestamp) AT TIME ZONE 'UTC')
GROUP BY o.org_id, o.since
`;

export const todaySoFar = {
  name: 'today_so_far',
  doc:
    'What hook events say of the time since the last exported day, one row per organization: the analytics arrive a ' +
    'day late, the hooks do not. Only of clients that have the hooks installed.',
  columns: {
    org_id: key(`${orgColumn.org_id.doc}; '' for events of a warehouse that knows none or several`),
    since: day('first UTC day that is not exported yet'),
    sessions: count('distinct sessions that had an event'),
    stops: count('tasks that the agent finished'),
    subagent_stops: count('tasks that subagents finished'),
    notifications: count('times that the agent waited for attention'),
    session_ends: count('sessions that ended'),
    events: count('all hook events'),
    last_event_at: moment('when the latest of them was received'),
  },
  select: { sqlite, postgres },
} satisfies View;
