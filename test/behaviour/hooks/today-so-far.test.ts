import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { drain, receive } from '../../support/hooks/receive-and-drain.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { openTemporary, query } from '../../support/warehouse/open-temporary.ts';

const ACTIVITY = { activity_daily: [[7, 9, 12, 20, 60, 30, null]] };

async function received(warehouse: string, at: string, event: Record<string, unknown>) {
  await receive(JSON.stringify(event), { args: ['--warehouse', warehouse], env: { DAYWALK_NOW: at } });
}

test('today_so_far counts the events since the last exported day of each organization', async () => {
  const warehouse = await openTemporary();
  const { path } = warehouse;
  const look = () => query(path, 'SELECT * FROM today_so_far ORDER BY org_id');
  expect(look()).toEqual([]);

  await received(path, '2026-02-01T23:59:59.999Z', { hook_event_name: 'Stop', session_id: 's-1' });
  await received(path, '2026-02-02T00:00:00Z', { hook_event_name: 'Stop', session_id: 's-2' });
  await received(path, '2026-02-02T01:00:00Z', { hook_event_name: 'SubagentStop', session_id: 's-2' });
  await received(path, '2026-02-02T02:00:00Z', {
    hook_event_name: 'Notification',
    session_id: 's-3',
    message: '?',
  });
  await received(path, '2026-02-02T03:00:00Z', {
    hook_event_name: 'SessionEnd',
    session_id: 's-3',
    reason: 'other',
  });
  await received(path, '2026-02-02T04:00:00Z', { hook_event_name: 'Invented' });
  await drain(path);
  expect(look()).toMatchObject([{ org_id: '', since: '2026-01-14', sessions: 3, stops: 2, events: 6 }]);

  await commitDay(warehouse, commitOf({ stream: 'activity', day: '2026-02-01', rows: ACTIVITY }));
  // A day that awaits its batch is not exported, nor does another stream say that it is.
  await commitDay(warehouse, commitOf({ stream: 'activity', day: '2026-02-02' }));
  await commitDay(
    warehouse,
    commitOf({ day: '2026-02-02', rows: { tokens_daily: [[1, 1, 0, 0, 0, null]] } }),
  );
  await drain(path);
  expect(look()).toEqual([
    {
      org_id: 'org_1',
      since: '2026-02-02',
      sessions: 2,
      stops: 1,
      subagent_stops: 1,
      notifications: 1,
      session_ends: 1,
      events: 5,
      last_event_at: '2026-02-02T04:00:00.000Z',
    },
  ]);

  await commitDay(warehouse, commitOf({ stream: 'activity', day: '2026-02-02', rows: ACTIVITY }));
  expect(look()).toEqual([
    {
      ...look()[0],
      since: '2026-02-03',
      sessions: 0,
      stops: 0,
      notifications: 0,
      events: 0,
      last_event_at: null,
    },
  ]);

  // A doubted day keeps its rows, so its events are in the analytics.
  const db = new Sqlite(path);
  db.exec("UPDATE export_units SET state = 'doubted' WHERE stream = 'activity' AND date = '2026-02-02'");
  db.close();
  // A clock that is ahead: the event is none of today.
  await received(path, '2999-01-01T00:00:00Z', { hook_event_name: 'Stop', session_id: 's-4' });
  await drain(path);
  expect(look()).toMatchObject([{ since: '2026-02-03', stops: 0, events: 0 }]);
});
