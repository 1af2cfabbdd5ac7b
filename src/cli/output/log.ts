import { userInfo } from 'node:os';
import type { CopyEvent } from '../../copy/index.ts';
import type { Clock } from '../../core/clock.ts';
import { isObject } from '../../core/json.ts';
import type { RunEvent } from '../../pipeline/index.ts';
import { publicName, publicText } from '../../privacy/index.ts';
import type { ServeEvent } from '../../serve/index.ts';
import { toSafeJson } from '../screens/text.ts';

type LogLevel = 'info' | 'warn' | 'error';

export interface LogEntry {
  readonly level: LogLevel;
  /** Name of the event, stable for machines: `unit-failed`. */
  readonly event: string;
  /** The event as a sentence for people. */
  readonly message: string;
  readonly hint?: string | undefined;
  /** The facts of the event, for machines. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** True for frequent events. Only the JSON log contains them; people see them in the progress. */
  readonly routine?: boolean;
}

/** The description of an event. `fields` defaults to the fields of the event. */
export type EventWords = Pick<LogEntry, 'level' | 'message' | 'hint' | 'fields' | 'routine'>;

/** Receives log entries. Never throws. */
export interface Log {
  write(entry: LogEntry): void;
}

/** A log that discards everything. */
export const silentLog: Log = { write: () => undefined };

/** An event of any job. */
export type ReportedEvent = RunEvent | CopyEvent | ServeEvent;

/** Creates a log for machines, with one JSON object per line: `{"time","level","event",…}`. */
export function createJsonLog(options: { write(text: string): void; clock: Clock }): Log {
  return {
    write: ({ level, event, message, hint, fields, routine }) => {
      const words = routine === true ? {} : { message, hint };
      const line = { time: options.clock.now().toISOString(), level, event, ...words, ...fields };
      options.write(`${toSafeJson(line)}\n`);
    },
  };
}

/** Events whose sentences are made from own words, days, counts and addresses of this machine. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  'settings',
  'serving',
  'stopping',
  'schedule-waits',
  'warehouse-upgraded',
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
  'wait-began',
  'wait-ended',
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

/** A line for whoever has to show later what was done with data of people: who did it and how much, without a name of those people. */
export function audit(log: Log, what: string, counts: Readonly<Record<string, unknown>>): void {
  const by = systemUser();
  log.write({ level: 'info', event: 'audit', message: `${by} has ${what}`, fields: { by, ...counts } });
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under an ID without a name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
