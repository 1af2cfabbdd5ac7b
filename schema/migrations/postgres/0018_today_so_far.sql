DROP VIEW "today_so_far";--> statement-breakpoint
CREATE VIEW "today_so_far" AS (WITH organizations AS (
  SELECT known.org_id, COALESCE(CAST(e.last_day AS date) + 1, DATE '2026-01-14') AS since
  FROM (SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events) known
  LEFT JOIN (SELECT u.org_id, MAX(u.date) AS last_day FROM export_units u WHERE u.stream = 'activity' AND (u.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (u.state = 'awaiting' AND CAST(u.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (u.rows > 0 AND u.first_loaded_at IS NOT NULL)) GROUP BY u.org_id) e
    ON e.org_id = known.org_id
)

SELECT o.org_id AS org_id, o.since AS since,
  COUNT(DISTINCT h.session_id) AS sessions,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'Stop' THEN 1 ELSE 0 END), 0) AS stops,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'SubagentStop' THEN 1 ELSE 0 END), 0) AS subagent_stops,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'Notification' THEN 1 ELSE 0 END), 0) AS notifications,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'SessionEnd' THEN 1 ELSE 0 END), 0) AS session_ends,
  COUNT(h.event_id) AS events,
  MAX(h.received_at) AS last_event_at
FROM organizations o
LEFT JOIN hook_events h ON h.org_id = o.org_id AND h.received_at >= (CAST(o.since AS timestamp) AT TIME ZONE 'UTC')
  AND h.received_at <= now()
GROUP BY o.org_id, o.since);