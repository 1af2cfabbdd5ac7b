export type LogLevel = 'info' | 'warn' | 'error';

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
