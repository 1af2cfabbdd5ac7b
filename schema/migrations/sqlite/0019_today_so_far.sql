DROP VIEW `today_so_far`;--> statement-breakpoint
CREATE VIEW `today_so_far` AS WITH organizations AS (
  SELECT known.org_id, COALESCE(
    (SELECT date(MAX(u.date), '+1 day') FROM export_units u WHERE u.org_id = known.org_id AND u.stream = 'activity' AND (u.state IN ('loaded', 'empty', 'quarantined', 'doubted')
      OR (u.state = 'awaiting' AND CAST(u.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (u.rows > 0 AND u.first_loaded_at IS NOT NULL))),
    '2026-01-14') AS since
  FROM (SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events) known
)

SELECT CAST(o.org_id AS TEXT) AS org_id, CAST(o.since AS TEXT) AS since,
  CAST(COUNT(DISTINCT h.session_id) AS INTEGER) AS sessions,
  CAST(COALESCE(SUM(CASE WHEN h.hook_event_name = 'Stop' THEN 1 ELSE 0 END), 0) AS INTEGER) AS stops,
  CAST(COALESCE(SUM(CASE WHEN h.hook_event_name = 'SubagentStop' THEN 1 ELSE 0 END), 0) AS INTEGER) AS subagent_stops,
  CAST(COALESCE(SUM(CASE WHEN h.hook_event_name = 'Notification' THEN 1 ELSE 0 END), 0) AS INTEGER) AS notifications,
  CAST(COALESCE(SUM(CASE WHEN h.hook_event_name = 'SessionEnd' THEN 1 ELSE 0 END), 0) AS INTEGER) AS session_ends,
  CAST(COUNT(h.event_id) AS INTEGER) AS events,
  CAST(MAX(h.received_at) AS TEXT) AS last_event_at
FROM organizations o
LEFT JOIN hook_events h ON h.org_id = o.org_id AND h.received_at >= o.since
  AND h.received_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
GROUP BY o.org_id, o.since;