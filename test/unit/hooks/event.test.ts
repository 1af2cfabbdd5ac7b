import { expect, test } from 'vitest';
import {
  HOOK_EVENT_NAMES,
  isHookEventName,
  isKnownHookEvent,
  wrongFieldsOf,
} from '../../../src/hooks/event.ts';

test.each(HOOK_EVENT_NAMES)(
  '%s is known by its name, with its fields of the right types and any others',
  (name) => {
    expect(isKnownHookEvent({ hook_event_name: name })).toBe(true);
    expect(isKnownHookEvent({ hook_event_name: name, session_id: 's', cwd: '/w', new_field: [1] })).toBe(
      true,
    );
    expect(wrongFieldsOf({ hook_event_name: name, session_id: 1, cwd: null })).toEqual(['session_id', 'cwd']);
  },
);

test('the events of section 6 are known, with their documented fields', () => {
  for (const name of ['Notification', 'Stop', 'SubagentStop', 'SessionEnd', 'PostToolUse']) {
    expect(isHookEventName(name)).toBe(true);
  }
  expect(wrongFieldsOf({ hook_event_name: 'Notification', message: 7 })).toEqual(['message']);
  expect(wrongFieldsOf({ hook_event_name: 'SessionEnd', reason: {} })).toEqual(['reason']);
  expect(wrongFieldsOf({ hook_event_name: 'Stop', reason: {} })).toEqual([]);
  for (const reason of ['error', 'other', 'clear', 'logout', 'prompt_input_exit', 'a new one']) {
    expect(isKnownHookEvent({ hook_event_name: 'SessionEnd', reason })).toBe(true);
  }
});

test('an event with an unknown name is none of them', () => {
  for (const name of ['Invented', 'constructor', '', 7, null, undefined]) {
    expect(isKnownHookEvent({ hook_event_name: name })).toBe(false);
  }
});
