import { tables } from '../../../schema/tables.ts';
import { type ActivityRow, CLIENTS } from '../../api/shapes/activity.ts';
import type { EncodedRows } from '../../warehouse/port.ts';
import { type NormalizeContext, orNull } from './context.ts';
import { distinctRows } from './rows.ts';

const METRICS = [
  'daily_active_users',
  'weekly_active_users',
  'monthly_active_users',
  'sessions',
  'messages',
  'user_messages',
] as const;
const ROW_FIELDS = new Set<string>(['date', ...METRICS, 'daily_active_users_by_client']);

/** Collects the rows of a day of /activity: the day and its client types. */
export function normalizeActivity() {
  const days = distinctRows(tables.activityDaily);
  const clients = distinctRows(tables.activityDailyByClient);
  return {
    add(row: ActivityRow, { orgId, findings, exact }: NormalizeContext): void {
      const scope = [orgId, row.date];
      const metrics = METRICS.map((name) => orNull(row[name]));
      days.add([...scope, ...metrics, findings.extra(row, ROW_FIELDS, { place: 'data[]', exact })]);
      for (const [client, users] of Object.entries(row.daily_active_users_by_client ?? {})) {
        findings.expectOneOf(CLIENTS, client, 'data[].daily_active_users_by_client');
        clients.add([...scope, client, orNull(users), null]);
      }
    },
    finish: (): EncodedRows[] => [days.finish(), clients.finish()],
  };
}
