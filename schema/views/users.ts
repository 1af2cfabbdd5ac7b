import { count, day, key, label, metric, orgColumn, type View } from '../define.ts';

const select = `
WITH emails AS (
  SELECT org_id, user_id, user_email,
    ROW_NUMBER() OVER (PARTITION BY org_id, user_id ORDER BY date DESC) AS recency
  FROM user_daily WHERE user_email IS NOT NULL
)
SELECT u.org_id, u.user_id, e.user_email,
  MIN(u.date) AS first_active_on, MAX(u.date) AS last_active_on, COUNT(*) AS active_days,
  SUM(u.billable_tokens) AS billable_tokens, SUM(u.tool_calls) AS tool_calls,
  SUM(u.sessions) AS sessions, SUM(u.messages) AS messages, SUM(u.user_messages) AS user_messages,
  SUM(u.files_created) AS files_created, SUM(u.files_edited) AS files_edited,
  SUM(u.git_commits) AS git_commits, SUM(u.git_prs_created) AS git_prs_created
FROM user_daily u
LEFT JOIN emails e ON e.org_id = u.org_id AND e.user_id = u.user_id AND e.recency = 1
GROUP BY u.org_id, u.user_id, e.user_email
`;

export const usersView = {
  name: 'users',
  doc: 'One row per user: latest email, first and last day with a row, totals over all days.',
  columns: {
    ...orgColumn,
    user_id: key('user'),
    user_email: label('email of the latest day that has one'),
    first_active_on: day('first day with a row'),
    last_active_on: day('last day with a row'),
    active_days: count('days with a row'),
    billable_tokens: metric('credits consumed'),
    tool_calls: metric('tool calls'),
    sessions: metric('sessions started'),
    messages: metric('messages of the user and the assistant'),
    user_messages: metric('messages of the user'),
    files_created: metric('files created'),
    files_edited: metric('files edited'),
    git_commits: metric('git commits'),
    git_prs_created: metric('pull requests created'),
  },
  select: { sqlite: select, postgres: select },
} satisfies View;
