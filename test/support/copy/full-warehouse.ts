import { onTestFinished } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { ensureGateKey } from '../../../src/kept-out/list.ts';
import { changeRows } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { type HookEventRow, storeHookEvents } from '../../../src/records/hook-events.ts';
import { recordSession, type SessionRow } from '../../../src/records/runs.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { createRig, type Rig, rigOver, TODAY } from '../rig/rig.ts';

/** A row of `sessions`. */
export const sessionRow = (orgId: string, id: string): SessionRow => ({
  org_id: orgId,
  session_id: id,
  title: 'Ärger mit "Quotes"',
  status: 'pending',
  message_count: 0,
  created_at: '2026-02-09T10:00:00.000Z',
  updated_at: '2026-02-09T10:00:00.000Z',
  completed_at: null,
  computer_id: 'computer-1',
  session_settings: '{"interactionMode":"auto","tags":[{"name":"nightly"}]}',
  extra: '{"a":{"b":[1,2.5,null]},"z":9007199254740993}',
});

/** A row of `hook_events` without its organization. */
export const eventRow = (id: string): HookEventRow => ({
  event_id: id,
  received_at: '2026-02-09T11:00:00.000Z',
  hook_event_name: 'Notification',
  session_id: 's-1',
  cwd: '/srv/app',
  message: 'line\nbreak, tab\t and \\N',
  reason: null,
  payload: `{"hook_event_name":"Notification", "id":"${id}", "n":1.0}`,
});

/** Stores a person, a price and a budget, and refreshes what depends on the person. */
async function loadDimensions(warehouse: Warehouse): Promise<void> {
  const [user] = await warehouse.select(sql`SELECT MIN(user_id) AS id FROM users WHERE org_id = 'org_a'`);
  const person = [
    ...['org_a', String(user?.['id']), '2026-01-14', null],
    ...['Ada', 'Platform', 'Engineering', 'CC-1', null],
  ];
  await changeRows(warehouse, {
    put: [
      { table: tables.people, rows: [person] },
      { table: tables.prices, rows: [['org_a', '2026-01-14', null, 'EUR', 2.5]] },
      { table: tables.organizations, rows: [['research', 'org_a', '2026-02-10T03:00:00.000Z']] },
      { table: tables.budgets, rows: [['org_a', '2026-02', 'Platform', 100, 'EUR']] },
      { table: tables.events, rows: [['org_a', '2026-02-06', 'Platform', 'offsite', 1]] },
      {
        table: tables.erased,
        rows: [['org_a', 'user', 'a'.repeat(64), 'erased-0', '2026-02-10T03:00:00.000Z', null]],
      },
      {
        table: tables.archives,
        rows: [
          [
            ...['6f9619ff-8b86-4011-b42d-00c04fc964ff', '/srv/archive.db', '{"pull":["m1"]}', '[]'],
            ...['2026-02-09T03:00:00.000Z', '2026-02-10T03:00:00.000Z', '2026-02-10T04:00:00.000Z'],
          ],
        ],
      },
    ],
    remove: [],
  });
  await refreshRollups(warehouse, { orgId: 'org_a', now: new Date('2026-02-10T03:00:00Z') });
}

/**
 * A rig whose warehouse has rows in every table: two organizations, units in every state, restatements, quarantine,
 * drift, readiness, sessions, events, people, prices, budgets and a name.
 */
export async function fullWarehouse(): Promise<Rig> {
  const rig = await createRig({
    orgId: 'org_a',
    users: 12,
    reports: 12,
    quirks: {
      unknownFields: true,
      nullMetrics: 0.1,
      nullNumerators: 0.3,
      newClientType: true,
      newCriteria: true,
      cacheFields: true,
      emptyDays: 'zeros',
      inactiveDays: [parseDay('2026-01-20'), parseDay('2026-02-08')],
    },
    rules: parseRules([
      { match: { stream: 'tools', day: '2026-02-05' }, action: { type: 'status', status: 500 } },
      {
        match: { stream: 'users', day: '2026-02-04' },
        action: { type: 'patch', operations: [{ op: 'remove', path: '/data/0/user_id' }] },
      },
    ]),
  });
  // One request per day, so that a fault hits one day.
  const settings = { attempts: 1, rangeDays: 1 };
  // Three nights, so that days have settled as empty.
  await rig.run({ now: parseDay('2026-02-08'), settings });
  await rig.run({ now: parseDay('2026-02-09'), settings });
  rig.emulator.revise({ kind: 'restate', day: parseDay('2026-02-06') });
  await rig.run({ settings });
  const other = await startEmulator({
    realistic: true,
    today: TODAY,
    users: 5,
    reports: 3,
    seed: 7,
    orgId: 'org_b',
  });
  onTestFinished(() => other.close());
  await rigOver(other, rig.place).run({ until: parseDay('2026-01-25'), newOrganization: 'org_b' });
  const warehouse = await openWarehouse(rig.path, { clock: systemClock(), create: false });
  try {
    await recordSession(warehouse, () => sessionRow('org_a', 'session_1'));
    await recordSession(warehouse, () => sessionRow('org_c', 'session_2'));
    await storeHookEvents(warehouse, { orgId: 'org_a', rows: ['event_1', 'event_2'].map(eventRow) });
    await storeHookEvents(warehouse, { orgId: '', rows: [eventRow('event_3')] });
    await loadDimensions(warehouse);
    await ensureGateKey(warehouse);
  } finally {
    await warehouse.close();
  }
  return rig;
}
