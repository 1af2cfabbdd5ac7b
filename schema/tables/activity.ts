import { factTable, key, metric, ratio } from '../define.ts';

export const activityDaily = factTable({
  name: 'activity_daily',
  doc: 'Active users, sessions and messages of the organization: one row per day.',
  stream: 'activity',
  values: {
    daily_active_users: ratio('distinct users active on the day'),
    weekly_active_users: ratio('distinct users active in the 7 days that end on this day'),
    monthly_active_users: ratio('distinct users active in the 30 days that end on this day'),
    sessions: metric('sessions started'),
    messages: metric('messages from users and the assistant'),
    user_messages: metric('messages from users'),
  },
});

export const activityDailyByClient = factTable({
  name: 'activity_daily_by_client',
  doc: 'Active users by client type. Someone who uses several clients counts once in each.',
  stream: 'activity',
  by: { client: key('client type: terminal-ui, web, non-interactive-cli or a newer one') },
  values: { daily_active_users: ratio('distinct users active on the day with this client') },
});
