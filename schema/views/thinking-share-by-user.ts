import { key, label, metric, orgColumn, ratio, type View } from '../define.ts';
import { type Cast, castInSqlite, plain } from './cast.ts';

// A user without a day of thinking has a share of 0, not an unknown one.
const THINKING = 'CASE WHEN SUM(m.billable_tokens) IS NOT NULL THEN COALESCE(SUM(m.thinking_tokens), 0) END';

const select = (cast: Cast) => `
SELECT m.org_id, m.user_id, u.user_email, u.team,
  ${cast('SUM(m.billable_tokens)', 'REAL')} AS billable_tokens,
  ${cast(THINKING, 'REAL')} AS thinking_tokens,
  ${cast(`${THINKING} / NULLIF(SUM(m.billable_tokens), 0)`, 'REAL')} AS thinking_share
FROM user_monthly m
LEFT JOIN users u ON u.org_id = m.org_id AND u.user_id = m.user_id
GROUP BY m.org_id, m.user_id, u.user_email, u.team
`;

export const thinkingShareByUser = {
  name: 'thinking_share_by_user',
  doc: 'How much of the credits of each user went to days whose primary model was a thinking model, over all days: one row per user. It comes from rollups, which may lag behind the days until the next run.',
  columns: {
    ...orgColumn,
    user_id: key('ID of the user'),
    user_email: label('email address of the latest day that has one'),
    team: label('team of today; NULL without one'),
    billable_tokens: metric('credits consumed'),
    thinking_tokens: metric('credits of the days on which the primary model had the tier thinking'),
    thinking_share: ratio('thinking_tokens / billable_tokens, 0 to 1; NULL without credits'),
  },
  select: { sqlite: select(castInSqlite), postgres: select(plain) },
} satisfies View;
