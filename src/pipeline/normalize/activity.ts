import { encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { type ActivityRow, CLIENTS } from '../../api/shapes/activity.ts';
import type { EncodedRows } from '../../warehouse/port.ts';
import type { NormalizeContext } from './context.ts';
import { mapping } from './mapping.ts';
import { distinctRows } from './rows.ts';

const dayRow = mapping(tables.activityDaily, { place: 'data[]', known: ['daily_active_users_by_client'] });
const clientRow = encoderOf(tables.activityDailyByClient);

/** Collects the rows of a day of /activity: the day and its client types. */
export function normalizeActivity() {
  const days = distinctRows(tables.activityDaily);
  const clients = distinctRows(tables.activityDailyByClient);
  return {
    add(row: ActivityRow, context: NormalizeContext): void {
      const { orgId: org_id, findings } = context;
      days.add(dayRow(row, {}, context));
      for (const [client, users] of Object.entries(row.daily_active_users_by_client ?? {})) {
        findings.expectOneOf(CLIENTS, client, 'data[].daily_active_users_by_client');
        clients.add(
          clientRow({ org_id, date: row.date, client, daily_active_users: users ?? null, extra: null }),
        );
      }
    },
    finish: (): EncodedRows[] => [days.finish(), clients.finish()],
  };
}
