import pg from 'pg';
import {
  BusyError,
  DamagedError,
  DaywalkError,
  messageOf,
  StorageError,
  UnitError,
  UsageError,
} from '../../core/errors.ts';

/** The remedy for a proxy that gives each transaction to any free backend. */
const POOLED = 'connect to the server itself, or through a pool in session mode';

/** Settings and locks of a session belong to one client, or they are worth nothing. */
export function sharedSession(): UsageError {
  return new UsageError('a proxy shares sessions among its clients, and claims would be lost there', {
    hint: POOLED,
  });
}

/** A corrupted page, or a corrupted index. */
const DAMAGED = /^XX00[12]/;

const HINTS: readonly [RegExp, string][] = [
  [/^53100/, 'free space on the disk of the server, then run again: it resumes'],
  [
    /^42501/,
    'grant this user the rights to create and write in the schema, or name another schema with ?schema=',
  ],
  // PgBouncer says so of every statement that it does not let through.
  [/^08P01/, `${POOLED}; commands that only read work in transaction mode too`],
  [/^25006/, 'connect to the primary: this server only reads'],
  [/^(42P01|3F000)/, 'tables are missing; restore them, or name another schema with ?schema='],
  [/^23505/, 'a unique index that daywalk did not create refuses a row; drop it, then run again: it resumes'],
  [DAMAGED, 'restore the database from a backup'],
];
const BUSY: readonly [RegExp, string][] = [
  [/^53300/, 'raise max_connections of the server, or end other clients, then run again'],
  [/^55P03/, 'end the session that holds the table, then run again'],
];
const REFUSED: readonly [RegExp, string][] = [
  [/^28/, 'check user and password in the URL, PGPASSWORD or the password file'],
  [/^3D000/, 'create the database first, or correct its name in the URL'],
  // The prepared statements of this connection are missing, or belong to another connection.
  [/^(42P05|26000)/, POOLED],
];
/** Values that a database cannot store, or that exceed its limits. They fail one unit and not the run. */
const DATA = /^(22|54)/;
/** The server ends the connection, or is still starting. */
const GOING = /^(57P0[1-5]|08)/;
/** The only code that Citus reports when a server behind it is lost during a transaction. */
const INTERNAL = 'XX000';
/** The time limit of the statement is over, or somebody has cancelled it. */
const CANCELLED = '57014';
/** Another transaction holds a lock, or wrote the same key first. */
const CONFLICT = /^(40001|40P01|23505)/;

/** The SQLSTATE of an error from the server; undefined for other errors, such as network failures. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** True if the connection is lost. The statement may or may not have been executed. */
export function isLost(error: unknown): boolean {
  if (error instanceof DaywalkError) return false;
  const state = sqlState(error);
  return state === undefined ? error instanceof Error && !(error instanceof TypeError) : GOING.test(state);
}

/** True if the transaction was rolled back because of another one. A repetition can succeed. */
export function isConflict(error: unknown): boolean {
  return CONFLICT.test(sqlState(error) ?? '');
}

/** True if a server behind this one may be lost while the connection itself still works. */
export function isLostBehind(error: unknown): boolean {
  return sqlState(error) === INTERNAL;
}

/** Turns an error of PostgreSQL or the network into one that names the place and the remedy. */
export function storageError(error: unknown, doing: string, location: string): unknown {
  if (error instanceof DaywalkError) return error;
  const state = sqlState(error);
  if (state === undefined) return isLost(error) ? unreachableError(error, doing, location) : error;
  const message = `${doing} ${location}: ${messageOf(error)} (${state})`;
  const hintIn = (list: readonly [RegExp, string][]) => list.find(([pattern]) => pattern.test(state))?.[1];
  const busy = hintIn(BUSY);
  if (busy !== undefined) return new BusyError(message, { cause: error, hint: busy });
  const refused = hintIn(REFUSED);
  if (refused !== undefined) return new UsageError(message, { cause: error, hint: refused });
  if (DATA.test(state)) {
    const hint = 'PostgreSQL cannot hold a value of this answer; nothing of the unit was stored';
    return new UnitError(message, { cause: error, hint });
  }
  const Kind = DAMAGED.test(state) ? DamagedError : StorageError;
  return new Kind(message, {
    cause: error,
    hint: hintIn(HINTS) ?? 'run again: what was committed is safe',
    reason: state === CANCELLED ? 'read-too-slow' : undefined,
  });
}

function unreachableError(error: unknown, doing: string, location: string): StorageError {
  // For a host with several addresses there is one error for all of them, without a message.
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return new StorageError(`${doing} ${location}: ${parts.map(messageOf).join('; ')}`, {
    cause: error,
    hint: 'check that the server runs and that the URL names it, then run again: it resumes',
  });
}
