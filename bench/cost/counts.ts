/** What is counted of a task. Null: not counted on this machine, or not a part of the task. */
export interface Counts {
  /**
   * Bytes of all writing calls of the program, and of the server for PostgreSQL: files, logs, sockets and pipes. They are the
   * same on every file system; bytes that reach the disk are not, and a file system in memory has none.
   */
  readonly writtenBytes: number | null;
  /** Bytes written to the log before the data files. */
  readonly walBytes: number | null;
  /** How often the program, or the server for its log, waited until a file was on the disk. */
  readonly fsyncs: number | null;
  /** Calls of the database driver, in all threads. */
  readonly statements: number | null;
  /** Committed transactions: in SQLite those that may have written, in PostgreSQL all. */
  readonly transactions: number | null;
  /** Requests that the service received. */
  readonly requests: number | null;
  /** Largest memory of the program, median of the rounds. */
  readonly peakBytes: number | null;
  /** Processor time of the program, and of the server, ÷ that of the script that parses and inserts; medians of the rounds. */
  readonly cpuRatio: number | null;
}

export type CountName = keyof Counts;

/** How a count is called, shown and compared. */
export interface CountKind {
  readonly name: CountName;
  readonly heading: string;
  /** `limit`: only more than the expected figure fails. `count`: less is reported too. */
  readonly compared: 'count' | 'limit';
  /** A difference of so many is always within the tolerance, because some waits and commits depend on the time. */
  readonly slack: number;
  shown(value: number): string;
}

const whole = (value: number) => Math.round(value).toLocaleString('en');
const kilobytes = (value: number) => whole(value / 1e3);

/** Every count, in the order of the table. */
export const COUNT_KINDS: readonly CountKind[] = [
  { name: 'writtenBytes', slack: 20e3, heading: 'written kB', compared: 'count', shown: kilobytes },
  { name: 'walBytes', slack: 20e3, heading: 'WAL kB', compared: 'count', shown: kilobytes },
  { name: 'fsyncs', slack: 4, heading: 'fsyncs', compared: 'count', shown: whole },
  { name: 'statements', slack: 4, heading: 'statements', compared: 'count', shown: whole },
  { name: 'transactions', slack: 2, heading: 'transactions', compared: 'count', shown: whole },
  { name: 'requests', slack: 1, heading: 'requests', compared: 'count', shown: whole },
  {
    name: 'peakBytes',
    slack: 0,
    heading: 'peak MB',
    compared: 'count',
    shown: (value) => whole(value / 1e6),
  },
  {
    name: 'cpuRatio',
    slack: 0,
    heading: 'processor ÷ script',
    compared: 'limit',
    shown: (value) => value.toFixed(2),
  },
];
