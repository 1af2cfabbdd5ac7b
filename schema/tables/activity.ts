import { factTable, key, metric, ratio } from '../define.ts';

export const activityDaily = factTable({
  name: 'activity_daily',
  doc: 'Active users, sessions and messages of the organization, one row per day.',
  stream: 'activity',
  values: {
    daily_active_users: ratio('distinct users active on the day'),
    weekly_active_users: ratio('distinct users active in the trailing 7 days'),
    monthly_active_users: ratio('distinct users active in the trailing 30 days'),
    sessions: metric('sessions started'),
    messages: metric('messages of users and assistant'),
    user_messages: metric('messages of users'),
  },
});

export const activityDailyByClient = factTable({
  name: 'activity_daily_by_client',
  doc: 'Active users by client type. A user of several clients counts in each of them.',
  stream: 'activity',
  by: { client: key('client type: terminal-ui, web, non-interactive-cli, or a newer one') },
  values: { daily_active_users: ratio('distinct users active on the day with this client') },
});
