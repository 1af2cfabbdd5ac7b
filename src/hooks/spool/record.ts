import { isObject, parseJson } from '../../core/json.ts';

/** An event in the spool. */
export interface SpoolRecord {
  /** When the event was received, as an ISO instant. */
  readonly receivedAt: string;
  /** Process ID and monotonic clock of the receiver. Distinguishes equal events that arrive at the same instant. */
  readonly order: string;
  /** The event as the client wrote it, except that line breaks are replaced. Parsing it again would lose digits. */
  readonly text: string;
}

/** A line of the spool. */
export type SpoolLine =
  | { readonly kind: 'record'; readonly record: SpoolRecord; readonly event: Record<string, unknown> }
  /** An incomplete line. Its receiver was killed before it acknowledged the event. */
  | { readonly kind: 'torn' }
  /** Valid JSON of a kind that this version does not know. */
  | { readonly kind: 'unknown' };

const HEAD = /^\{"v":1,"at":"([^"]{1,40})","order":"([^"]{1,80})","event":/;
// Replacing line breaks does not change the value of a JSON text, because inside strings they are always escaped.
const LINE_BREAKS = /[\r\n]+/g;

/**
 * Encodes a record as a line of the spool. It begins with a line break, which ends an incomplete line of a killed
 * receiver.
 */
export function encodeRecord({ receivedAt, order, text }: SpoolRecord): Buffer {
  const event = text.trim().replace(LINE_BREAKS, ' ');
  return Buffer.from(`\n{"v":1,"at":"${receivedAt}","order":"${order}","event":${event}}\n`);
}

/**
 * Decodes a line of the spool. An incomplete JSON object is never valid JSON, so a torn line is never taken for a
 * record.
 */
export function decodeLine(line: string): SpoolLine {
  const head = HEAD.exec(line);
  const [all = '', receivedAt = '', order = ''] = head ?? [];
  const text = line.slice(all.length, -1);
  const event = head !== null && line.endsWith('}') ? parseJson(text) : undefined;
  if (isObject(event)) return { kind: 'record', record: { receivedAt, order, text }, event };
  return { kind: parseJson(line) === undefined ? 'torn' : 'unknown' };
}
