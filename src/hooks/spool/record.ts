import { isObject } from '../../core/json.ts';

/** An event as it stands in the spool. */
export interface SpoolRecord {
  /** When the receiver had it, as an instant. */
  readonly receivedAt: string;
  /** Tells receptions apart, also of equal events at one instant: the receiver's process and its place in time. */
  readonly order: string;
  /** The event as JSON text on one line, otherwise as the client wrote it: no digit of a number is lost. */
  readonly text: string;
}

/** A line of the spool: a record with its event, or a line that is none. */
export type SpoolLine =
  | { readonly kind: 'record'; readonly record: SpoolRecord; readonly event: Record<string, unknown> }
  /** Half of a line: its receiver died before it had acknowledged the event. */
  | { readonly kind: 'torn' }
  /** Whole JSON, but of no kind that this version writes. */
  | { readonly kind: 'unknown' };

const HEAD = /^\{"v":1,"at":"([^"]{1,40})","order":"([^"]{1,80})","event":/;
// A line break is no part of a JSON text's value: inside of strings it is always escaped.
const LINE_BREAKS = /[\r\n]+/g;

/**
 * A record as bytes for the spool. It begins with a line break, so that half a line, left behind by a receiver that
 * was killed, does not take this one with it.
 */
export function encodeRecord({ receivedAt, order, text }: SpoolRecord): Buffer {
  const event = text.trim().replace(LINE_BREAKS, ' ');
  return Buffer.from(`\n{"v":1,"at":"${receivedAt}","order":"${order}","event":${event}}\n`);
}

/** What a line of the spool is. Half a JSON object is never JSON, so a torn line cannot pass as a record. */
export function decodeLine(line: string): SpoolLine {
  const head = HEAD.exec(line);
  const [all = '', receivedAt = '', order = ''] = head ?? [];
  const text = line.slice(all.length, -1);
  const event = head !== null && line.endsWith('}') ? parsed(text) : undefined;
  if (isObject(event)) return { kind: 'record', record: { receivedAt, order, text }, event };
  return { kind: parsed(line) === undefined ? 'torn' : 'unknown' };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
