import { createHash } from 'node:crypto';
import { canonicalJson, isExact, isObject, isStorable } from '../core/json.ts';
import type { HookEventRow } from '../warehouse/port.ts';
import type { SpoolRecord } from './spool/record.ts';

/**
 * Computes the ID of an event from its content, its time and its order. Draining an event twice gives the same ID;
 * receiving two equal events gives two IDs.
 */
export function eventIdOf({ receivedAt, order, text }: SpoolRecord): string {
  return createHash('sha256').update(`${receivedAt}\n${order}\n${text}`).digest('hex');
}

/** Applies the email policy to a JSON text, and changes nothing else. */
export type ScrubJson = (json: string) => string;

/**
 * Builds the row of `hook_events` for an event. It has no organization, because a hook event names none. Characters that
 * some databases cannot hold (NUL, half of a surrogate pair) become U+FFFD. The ID is computed from the event as it was
 * received, so a changed email policy does not store the same event twice.
 */
export function rowOf(
  record: SpoolRecord,
  received: Record<string, unknown>,
  scrubJson: ScrubJson,
): HookEventRow {
  const text = scrubJson(record.text);
  const event = text === record.text ? received : parseObject(text);
  const label = (field: string) => {
    const value = Object.hasOwn(event, field) ? event[field] : undefined;
    return typeof value === 'string' ? storableText(value) : null;
  };
  return {
    event_id: eventIdOf(record),
    received_at: record.receivedAt,
    hook_event_name: label('hook_event_name'),
    session_id: label('session_id'),
    cwd: label('cwd'),
    message: label('message'),
    reason: label('reason'),
    payload: payloadOf(text, event),
  };
}

function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : {};
}

// Canonical JSON makes equal events equal texts. If that would round a number, or if the event is nested too deeply for
// recursion, its text stays as the client wrote it.
function payloadOf(text: string, event: Record<string, unknown>): string {
  try {
    const storable = isStorable(event) ? event : storableValue(event);
    return isExact(event) ? canonicalJson(storable) : text;
  } catch (error) {
    if (error instanceof RangeError) return text;
    throw error;
  }
}

function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storableValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [storableText(name), storableValue(member)]),
  );
}
