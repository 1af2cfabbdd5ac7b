import { describe, expect, it } from 'vitest';
import { listErased } from '../../../src/kept-out/list.ts';
import { type HookEventRow, storeHookEvents } from '../../../src/records/hook-events.ts';
import { recordSession, type SessionRow } from '../../../src/records/runs.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase, open, type Place } from '../../support/warehouse/each-database.ts';

function event(event_id: string, payload = '{"hook_event_name":"Stop"}'): HookEventRow {
  return {
    event_id,
    received_at: '2026-02-01T10:00:00.123Z',
    hook_event_name: 'Stop',
    session_id: 's-1',
    cwd: '/srv',
    message: null,
    reason: null,
    payload,
  };
}

function session(
  session_id: string,
  status: string,
  settings: string | null = '{"a":{"b":[1,2]}}',
): SessionRow {
  const at = '2026-02-01T10:00:00.000Z';
  return {
    org_id: 'org_1',
    session_id,
    title: 'a title',
    status,
    message_count: 3,
    created_at: at,
    updated_at: at,
    completed_at: null,
    computer_id: 'computer-1',
    session_settings: settings,
    extra: null,
  };
}

const events = ({ query }: Place) =>
  query<{ org_id: string; event_id: string }>(
    'SELECT org_id, event_id FROM hook_events ORDER BY org_id, event_id',
  );

onEachDatabase((database) => {
  describe('hook events', () => {
    it('are stored once each, under the given organization', async () => {
      const warehouse = await open(database);
      const { place } = warehouse;
      expect(
        await storeHookEvents(warehouse, { orgId: 'org_1', rows: [event('a'), event('b'), event('a')] }),
      ).toBe(2);
      expect(await storeHookEvents(warehouse, { orgId: 'org_1', rows: [event('b'), event('c')] })).toBe(1);
      expect(await events(place)).toEqual(['a', 'b', 'c'].map((id) => ({ org_id: 'org_1', event_id: id })));
    });

    it('keep their text and their time exactly', async () => {
      const warehouse = await open(database);
      const { place } = warehouse;
      const payload = '{ "z": 1.0,\n "a": "\\u0000\\ud800", "n": 12345678901234567890 }';
      await storeHookEvents(warehouse, { orgId: 'org_1', rows: [event('a', payload)] });
      expect(await place.query('SELECT received_at, message, payload FROM hook_events')).toEqual([
        { received_at: '2026-02-01T10:00:00.123Z', message: null, payload },
      ]);
    });

    it('from before the organization was known are assigned to it, and not stored again', async () => {
      const warehouse = await open(database);
      const { place } = warehouse;
      expect(await storeHookEvents(warehouse, { orgId: '', rows: [event('a'), event('b')] })).toBe(2);
      expect(await storeHookEvents(warehouse, { orgId: 'org_1', rows: [event('b'), event('c')] })).toBe(3);
      expect(await events(place)).toEqual(['a', 'b', 'c'].map((id) => ({ org_id: 'org_1', event_id: id })));
    });

    it('without an organization stay so after one was erased: they may be its events', async () => {
      const warehouse = await open(database);
      await storeHookEvents(warehouse, { orgId: '', rows: [event('a')] });
      await listErased(warehouse, 'org_2', [{ kind: 'organization', value: 'org_2' }], new Date());
      expect(await storeHookEvents(warehouse, { orgId: 'org_1', rows: [event('b')] })).toBe(1);
      expect(await events(warehouse.place)).toEqual([
        { org_id: '', event_id: 'a' },
        { org_id: 'org_1', event_id: 'b' },
      ]);
    });

    it('that are stored under another organization of the warehouse are not stored again', async () => {
      const warehouse = await open(database);
      const { place } = warehouse;
      await commitDay(
        warehouse,
        commitOf({ orgId: 'org_1', rows: { tokens_daily: [[1, 1, 1, 1, 1, null]] } }),
      );
      await storeHookEvents(warehouse, { orgId: 'org_1', rows: [event('a')] });
      expect(await storeHookEvents(warehouse, { orgId: '', rows: [event('a')] })).toBe(0);
      expect(await storeHookEvents(warehouse, { orgId: 'org_2', rows: [event('a'), event('b')] })).toBe(1);
      expect(await events(place)).toEqual([
        { org_id: 'org_1', event_id: 'a' },
        { org_id: 'org_2', event_id: 'b' },
      ]);
    });

    it('may be hundreds', async () => {
      const warehouse = await open(database);
      const rows = Array.from({ length: 700 }, (_, n) => event(`event ${n}`));
      expect(await storeHookEvents(warehouse, { orgId: 'org_1', rows })).toBe(700);
      expect(await storeHookEvents(warehouse, { orgId: 'org_1', rows })).toBe(0);
    });
  });

  describe('a session', () => {
    it('is stored, and replaced when it is stored again', async () => {
      const warehouse = await open(database);
      const { place } = warehouse;
      await recordSession(warehouse, () => session('s-1', 'pending'));
      await recordSession(warehouse, () => session('s-2', 'idle', null));
      await recordSession(warehouse, () => session('s-1', 'running'));
      const sql =
        'SELECT session_id, status, message_count, completed_at, session_settings FROM sessions ORDER BY 1';
      expect(await place.query(sql)).toEqual([
        {
          session_id: 's-1',
          status: 'running',
          message_count: 3,
          completed_at: null,
          session_settings: '{"a":{"b":[1,2]}}',
        },
        { session_id: 's-2', status: 'idle', message_count: 3, completed_at: null, session_settings: null },
      ]);
    });

    it('is made from the list of the people who are erased by then', async () => {
      const warehouse = await open(database);
      await listErased(warehouse, 'org_1', [{ kind: 'email', value: 'ada@example.com' }], new Date());
      const stored = await recordSession(warehouse, ({ entries }) => ({
        ...session('s-1', 'idle'),
        title: entries.map(({ kind }) => `without one ${kind}`).join(),
      }));
      expect(stored).toBe(true);
      expect(await warehouse.place.query('SELECT title FROM sessions')).toEqual([
        { title: 'without one email' },
      ]);
    });

    it('is refused, not stored in part, if its text cannot be stored', async () => {
      const warehouse = await open(database);
      const row = { ...session('s-1', 'idle'), title: 'a NUL: \0' };
      expect(await recordSession(warehouse, () => row)).toBe(false);
      expect(await warehouse.place.query('SELECT session_id FROM sessions')).toEqual([]);
    });
  });
});
