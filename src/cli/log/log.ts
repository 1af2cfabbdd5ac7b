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
  /** True for frequent events: only the JSON log has them; people see them in the progress. */
  readonly routine?: boolean;
}

/** The words for an event. Its fields are those of the event itself, unless given here. */
export type EventWords = Pick<LogEntry, 'level' | 'message' | 'hint' | 'fields' | 'routine'>;

/** Receives log entries. Never throws. */
export interface Log {
  write(entry: LogEntry): void;
}

/** A log that discards everything. */
export const silentLog: Log = { write: () => undefined };
