import { count, day, flag, metric, orgColumn, ratio, type View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './cast.ts';

const select = (cast: Cast) => `
SELECT d.org_id, d.date,
  t.billable_tokens, t.input_tokens, t.output_tokens,
  a.daily_active_users, a.weekly_active_users, a.monthly_active_users,
  a.sessions, a.messages, a.user_messages,
  o.tool_calls, o.skills_invocations, o.slash_commands_invocations, o.hooks_invocations,
  p.files_created, p.files_edited, p.git_commits, p.git_prs_created,
  ${cast('(SELECT COUNT(*) FROM user_daily u WHERE u.org_id = d.org_id AND u.date = d.date)', 'INTEGER')} AS users,
  ${cast('d.streams_held', 'INTEGER')} AS streams_held,
  ${cast('d.is_settled', 'INTEGER')} AS is_settled
FROM (
  SELECT org_id, date,
    SUM(CASE WHEN state IN ('loaded', 'empty', 'quarantined') THEN 1 ELSE 0 END) AS streams_held,
    CASE WHEN COUNT(settled_at) = 5 THEN 1 ELSE 0 END AS is_settled
  FROM export_units WHERE date <> '' GROUP BY org_id, date
) d
LEFT JOIN tokens_daily t ON t.org_id = d.org_id AND t.date = d.date
LEFT JOIN activity_daily a ON a.org_id = d.org_id AND a.date = d.date
LEFT JOIN tools_daily o ON o.org_id = d.org_id AND o.date = d.date
LEFT JOIN productivity_daily p ON p.org_id = d.org_id AND p.date = d.date
`;

// The ledger stores days as text, because readiness reports have no day.
const postgres = select(plain)
  .replace('SELECT org_id, date,', 'SELECT org_id, CAST(date AS date) AS date,')
  .replace('THEN 1 ELSE 0 END AS is_settled', 'THEN true ELSE false END AS is_settled');

export const dailyOverview = {
  name: 'daily_overview',
  doc: 'The main numbers of each day side by side: one row per organization and day that was ever pulled.',
  columns: {
    ...orgColumn,
    date: day('UTC day'),
    billable_tokens: metric('credits consumed'),
    input_tokens: metric('raw input tokens'),
    output_tokens: metric('output tokens'),
    daily_active_users: ratio('distinct users active on the day'),
    weekly_active_users: ratio('distinct users active in the 7 days that end on this day'),
    monthly_active_users: ratio('distinct users active in the 30 days that end on this day'),
    sessions: metric('sessions started'),
    messages: metric('messages from users and the assistant'),
    user_messages: metric('messages from users'),
    tool_calls: metric('tool calls'),
    skills_invocations: metric('skill invocations'),
    slash_commands_invocations: metric('slash command invocations'),
    hooks_invocations: metric('hook invocations'),
    files_created: metric('files created'),
    files_edited: metric('files edited'),
    git_commits: metric('git commits'),
    git_prs_created: metric('pull requests created'),
    users: count('number of rows of the day in user_daily'),
    streams_held: count('number of daily streams in which the day is stored; fewer than 5 means a hole'),
    is_settled: flag('1 once all five streams of the day are settled'),
  },
  select: { sqlite: select(castInSqlite), postgres },
} satisfies View;
