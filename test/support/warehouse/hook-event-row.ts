import type { HookEventRow } from '../../../src/records/hook-events.ts';

/** A hook event without message and reason. */
export const EVENT: HookEventRow = {
  event_id: 'a',
  received_at: '2026-02-01T10:00:00.123Z',
  hook_event_name: 'Stop',
  session_id: 's-1',
  cwd: '/srv',
  message: null,
  reason: null,
  payload: '{}',
};
