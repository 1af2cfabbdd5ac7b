/** How much a log entry matters. */
export type LogLevel = 'info' | 'warn' | 'error';

/** One thing that happened. */
export interface LogEntry {
  readonly level: LogLevel;
  /** Name of the event, stable for machines: `unit-failed`. */
  readonly event: string;
  /** The event as a sentence for people. */
  readonly message: string;
  readonly hint?: string | undefined;
  /** What machines want to know, by field. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** True for what happens all the time: machines get it, people see it in the progress. */
  readonly routine?: boolean;
}

/** What words make of an event; its fields are the event's own unless said otherwise. */
export type EventWords = Pick<LogEntry, 'level' | 'message' | 'hint' | 'fields' | 'routine'>;

/** Receives log entries. Never throws. */
export interface Log {
  write(entry: LogEntry): void;
}

/** A log that goes nowhere. */
export const silentLog: Log = { write: () => undefined };
