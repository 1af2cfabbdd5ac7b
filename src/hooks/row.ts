import { createHash } from 'node:crypto';
import { canonicalJson, isExact, isObject, isStorable } from '../core/json.ts';
import type { HookEventRow } from '../warehouse/port.ts';
import type { SpoolRecord } from './spool/record.ts';

/**
 * Names an event by its content and its order: the same reception has the same id however often it is drained, and
 * two receptions of equal events have two.
 */
export function eventIdOf({ receivedAt, order, text }: SpoolRecord): string {
  return createHash('sha256').update(`${receivedAt}\n${order}\n${text}`).digest('hex');
}

/** Removes what must not be stored from a JSON text; everything else stays as it is. */
export type ScrubJson = (json: string) => string;

/**
 * The row of `hook_events` for an event, without its organization: a hook event names none. Texts that not every
 * database can hold (NUL, half a surrogate pair) have U+FFFD in these places. The id is that of the event as it came,
 * so that another choice of what is stored does not make another event of it.
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

// Canonical, so that equal events are equal texts; where that would round a number, or the event is nested too deep
// to walk through, it stays as the client wrote it.
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
