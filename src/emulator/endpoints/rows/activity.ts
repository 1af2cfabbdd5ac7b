import type { ActivityByClientRow, ActivityRow } from '../../../api/shapes/activity.ts';
import { CLIENT_TYPES } from '../../dataset/catalog.ts';
import type { OrgDay } from '../../dataset/org-day.ts';
import type { Quirks } from '../../quirks/quirks.ts';
import { orgDayOf } from './org-day.ts';
import type { DayView } from './view.ts';

/** The client type that the quirk `newClientType` adds. */
const NEW_CLIENT_TYPE = 'ide-extension';

/** /activity: one row per day; WAU and MAU are unions over the trailing 7 and 30 days (section 2.4). */
export function writeActivityRows(view: DayView): readonly ActivityRow[] {
  const org = orgDayOf(view, 'activity');
  if (org === null) return [];
  return [
    {
      date: view.date,
      daily_active_users: org.users,
      weekly_active_users: view.dataset.distinctUsers(view.day, 7, 'activity'),
      monthly_active_users: view.dataset.distinctUsers(view.day, 30, 'activity'),
      daily_active_users_by_client: Object.fromEntries(usersByClient(org, view.quirks)),
      sessions: org.sessions,
      messages: org.userMessages + org.assistantMessages,
      user_messages: org.userMessages,
    },
  ];
}

/** /activity?group_by=client: one row per day and client type (section 4.2, group_by rule 4). */
export function writeActivityByClientRows(view: DayView): readonly ActivityByClientRow[] {
  const org = orgDayOf(view, 'activity');
  if (org === null) return [];
  return usersByClient(org, view.quirks).map(([client, users]) => ({
    date: view.date,
    group_key: client,
    daily_active_users: users,
  }));
}

function usersByClient(org: OrgDay, quirks: Quirks): [string, number][] {
  const known = CLIENT_TYPES.map((client, index): [string, number] => [
    client,
    org.usersByClient[index] ?? 0,
  ]);
  return quirks.newClientType ? [...known, [NEW_CLIENT_TYPE, Math.ceil(org.users / 9)]] : known;
}
