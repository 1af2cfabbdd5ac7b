import { isObject, parseJson } from '../../core/json.ts';

/** An event in the spool. */
export interface SpoolRecord {
  /** When it was received, as an instant. */
  readonly receivedAt: string;
  /** Distinguishes receptions, even of equal events at one instant: the receiver's process id and a growing number. */
  readonly order: string;
  /** The event as JSON text on one line, otherwise as the client wrote it, so that no digit of a number is lost. */
  readonly text: string;
}

/** A line of the spool. */
export type SpoolLine =
  | { readonly kind: 'record'; readonly record: SpoolRecord; readonly event: Record<string, unknown> }
  /** An incomplete line: its receiver was killed before it had acknowledged the event. */
  | { readonly kind: 'torn' }
  /** Valid JSON of a kind that this version does not know. */
  | { readonly kind: 'unknown' };

const HEAD = /^\{"v":1,"at":"([^"]{1,40})","order":"([^"]{1,80})","event":/;
// Line breaks do not belong to the value of a JSON text: inside strings they are always escaped.
const LINE_BREAKS = /[\r\n]+/g;

/**
 * Encodes a record for the spool. It begins with a line break, so that an incomplete line of a killed receiver does not spoil
 * this one.
 */
export function encodeRecord({ receivedAt, order, text }: SpoolRecord): Buffer {
  const event = text.trim().replace(LINE_BREAKS, ' ');
  return Buffer.from(`\n{"v":1,"at":"${receivedAt}","order":"${order}","event":${event}}\n`);
}

/** Decodes a line of the spool. An incomplete JSON object is never valid JSON, so a torn line cannot pass for a record. */
export function decodeLine(line: string): SpoolLine {
  const head = HEAD.exec(line);
  const [all = '', receivedAt = '', order = ''] = head ?? [];
  const text = line.slice(all.length, -1);
  const event = head !== null && line.endsWith('}') ? parseJson(text) : undefined;
  if (isObject(event)) return { kind: 'record', record: { receivedAt, order, text }, event };
  return { kind: parseJson(line) === undefined ? 'torn' : 'unknown' };
}
