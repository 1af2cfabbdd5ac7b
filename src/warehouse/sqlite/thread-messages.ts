import type { EncodedRows } from '../../../schema/digest.ts';
import { allTables } from '../../../schema/tables.ts';
import type { Upgrade } from '../../core/clock.ts';
import {
  type Advice,
  adviceOf,
  BusyError,
  ClaimLostError,
  DamagedError,
  messageOf,
  OldWarehouseError,
  StorageError,
  UsageError,
} from '../../core/errors.ts';
import type { CommitOutcome, DayCommit } from '../../units/index.ts';

/** A day to send to the thread. Its rows are texts, because copying texts takes a tenth of the time of copying arrays. */
interface SentDay extends Omit<DayCommit, 'tables'> {
  readonly tables: readonly (Omit<EncodedRows, 'table'> & { readonly name: string })[];
}

export interface ThreadStart {
  readonly path: string;
  /** The file that must be at the path, see `fileAt`. */
  readonly file: string | undefined;
}

/** A message to the thread. */
export type WriterRequest =
  | { readonly type: 'commit'; readonly doing: string; readonly days: readonly SentDay[] }
  /** The process has to stop: do not wait for other programs any more. */
  | { readonly type: 'stop' }
  /** Close the file and end the thread. */
  | { readonly type: 'close' };

/** A message from the thread. It answers commits in their order. */
export type WriterResponse =
  | { readonly type: 'ready' }
  | { readonly type: 'committed'; readonly outcomes: readonly CommitOutcome[] }
  | { readonly type: 'failed'; readonly error: SentError };

/** Prepares a commit for the thread. */
export function sentDay(commit: DayCommit): SentDay {
  return { ...commit, tables: commit.tables.map(({ table, ...rows }) => ({ name: table.name, ...rows })) };
}

/** The commit that was sent. */
export function receivedDay(day: SentDay): DayCommit {
  return {
    ...day,
    tables: day.tables.map(({ name, ...rows }) => {
      const table = allTables.find((known) => known.name === name);
      if (table === undefined) throw new TypeError(`there is no table ${name}`);
      return { table, ...rows };
    }),
  };
}

/** An error sent between threads or processes, which would otherwise lose its class and its advice. */
export interface SentError extends Advice {
  readonly kind: Kind | undefined;
  /** The upgrade that a warehouse needs. */
  readonly upgrade?: Upgrade | undefined;
  readonly message: string;
}

/** The classes that callers distinguish; a subclass comes before its superclass. */
const KINDS = {
  damaged: DamagedError,
  storage: StorageError,
  busy: BusyError,
  claim: ClaimLostError,
  usage: UsageError,
};

type Kind = keyof typeof KINDS;

/** An error, ready to be sent. */
export function sentError(error: unknown): SentError {
  const names = Object.keys(KINDS) as Kind[];
  const kind = names.find((name) => error instanceof KINDS[name]);
  const upgrade = error instanceof OldWarehouseError ? error.upgrade : undefined;
  return { kind, message: messageOf(error), upgrade, ...adviceOf(error) };
}

/** The error that was sent. */
export function receivedError({ kind, message, upgrade, ...advice }: SentError): Error {
  if (upgrade !== undefined) return new OldWarehouseError(upgrade);
  return kind === undefined ? new Error(message) : new KINDS[kind](message, advice);
}
