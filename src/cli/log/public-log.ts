import { isObject } from '../../core/json.ts';
import { publicName, publicText } from '../../privacy/public-text.ts';
import type { Log, LogEntry } from './log.ts';

/** Events whose sentences are made from own words, days, counts and addresses of this machine. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  'settings',
  'serving',
  'stopping',
  'schedule-waits',
  'tick',
  'round-ended',
  'run-started',
  'planned',
  'unit-done',
  'unit-elsewhere',
  'unit-doubted',
  'looks-again',
  'days-reopened',
  'readiness-page',
  'run-ended',
]);

/** Fields whose texts may quote the service, a file or a database. */
const FREE_TEXTS: ReadonlySet<string> = new Set(['message', 'hint', 'error', 'target', 'details', 'stack']);

/**
 * A log for a program that runs for years, whose output is collected and kept: it contains no email address, no user ID and
 * no text of the service. Stream, day, status and request ID stay.
 */
export function publicLog(log: Log): Log {
  return { write: (entry) => log.write(publicEntry(entry)) };
}

function publicEntry(entry: LogEntry): LogEntry {
  const { event, message, hint, fields } = entry;
  const isOwn = OWN_WORDS.has(event);
  return {
    ...entry,
    message: isOwn ? publicName(message) : publicText(message),
    ...(hint !== undefined && { hint: isOwn ? publicName(hint) : publicText(hint) }),
    ...(fields !== undefined && { fields: publicFields(fields) }),
  };
}

function publicFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, publicValue(value, FREE_TEXTS.has(name))]),
  );
}

/** Reports are a few levels deep and made by this program. */
function publicValue(value: unknown, isFreeText: boolean): unknown {
  if (typeof value === 'string') return isFreeText ? publicLines(value) : publicName(value);
  if (Array.isArray(value)) return value.map((item) => publicValue(item, isFreeText));
  return isObject(value) ? publicFields(value) : value;
}

/** A stack has a line for each call. */
function publicLines(text: string): string {
  return text.split('\n').map(publicText).join('\n');
}
