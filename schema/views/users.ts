import { count, day, key, label, metric, orgColumn, type View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './cast.ts';

// One pass over the table: the maximum of date and email together gives the email of the latest day.
const latestEmail = (datedEmail: string) =>
  `substr(MAX(CASE WHEN user_email IS NOT NULL THEN ${datedEmail} END), ${'YYYY-MM-DD'.length + 1})`;

const SUMS = [
  'billable_tokens',
  'tool_calls',
  'sessions',
  'messages',
  'user_messages',
  'files_created',
  'files_edited',
  'git_commits',
  'git_prs_created',
];

const select = (cast: Cast, email: string) => `
SELECT org_id, user_id, ${email} AS user_email,
  ${cast('MIN(date)', 'TEXT')} AS first_active_on, ${cast('MAX(date)', 'TEXT')} AS last_active_on,
  ${cast('COUNT(*)', 'INTEGER')} AS active_days,
  ${SUMS.map((name) => `${cast(`SUM(${name})`, 'REAL')} AS ${name}`).join(',\n  ')}
FROM user_daily
GROUP BY org_id, user_id
`;

export const usersView = {
  name: 'users',
  doc: 'Each user with the latest email address, the first and last active day, and totals over all days: one row per user.',
  columns: {
    ...orgColumn,
    user_id: key('ID of the user'),
    user_email: label('email address of the latest day that has one'),
    first_active_on: day('first day with a row'),
    last_active_on: day('last day with a row'),
    active_days: count('number of days with a row'),
    billable_tokens: metric('credits consumed'),
    tool_calls: metric('tool calls'),
    sessions: metric('sessions started'),
    messages: metric('messages from the user and the assistant'),
    user_messages: metric('messages from the user'),
    files_created: metric('files created'),
    files_edited: metric('files edited'),
    git_commits: metric('git commits'),
    git_prs_created: metric('pull requests created'),
  },
  select: {
    sqlite: select(castInSqlite, castInSqlite(latestEmail('date || user_email'), 'TEXT')),
    postgres: select(
      plain,
      `${latestEmail(`(to_char(date, 'YYYY-MM-DD') || user_email) COLLATE "C"`)} COLLATE "default"`,
    ),
  },
} satisfies View;
