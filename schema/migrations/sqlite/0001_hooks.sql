CREATE VIEW `today_so_far` AS WITH organizations AS (
  SELECT known.org_id, COALESCE(
    (SELECT date(MAX(date), '+1 day') FROM export_units u WHERE u.org_id = known.org_id AND stream = 'activity' AND state IN ('loaded', 'empty', 'quarantined')),
    '2026-01-14') AS since
  FROM (SELECT org_id FROM export_units UNION SELECT org_id FROM hook_events) known
)

SELECT o.org_id, o.since,
  COUNT(DISTINCT h.session_id) AS sessions,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'Stop' THEN 1 ELSE 0 END), 0) AS stops,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'SubagentStop' THEN 1 ELSE 0 END), 0) AS subagent_stops,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'Notification' THEN 1 ELSE 0 END), 0) AS notifications,
  COALESCE(SUM(CASE WHEN h.hook_event_name = 'SessionEnd' THEN 1 ELSE 0 END), 0) AS session_ends,
  COUNT(h.event_id) AS events,
  MAX(h.received_at) AS last_event_at
FROM organizations o
LEFT JOIN hook_events h ON h.org_id = o.org_id AND h.received_at >= o.since
GROUP BY o.org_id, o.since;