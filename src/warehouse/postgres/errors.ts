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

/** What to do about a proxy that hands transactions to whatever backend is free. */
export const POOLED = 'connect to the server itself, or through a pool in session mode';

/** A corrupted page, or a corrupted index. */
const DAMAGED = /^XX00[12]/;

const HINTS: readonly [RegExp, string][] = [
  [/^53100/, 'free space on the disk of the server, then run again: it resumes'],
  [
    /^42501/,
    'grant this user the rights to create and write in the schema, or name one of its own with ?schema=',
  ],
  [/^25006/, 'connect to the primary: this server only reads'],
  [/^(42P01|3F000)/, 'tables are missing; restore them, or name another schema with ?schema='],
  [/^23505/, 'a unique index that is not of this program refuses a row; drop it, then run again: it resumes'],
  [DAMAGED, 'restore the database from a backup'],
];
const BUSY: readonly [RegExp, string][] = [
  [/^53300/, 'raise max_connections of the server, or end other clients, then run again'],
  [/^55P03/, 'end the session that holds the table, then run again'],
];
const REFUSED: readonly [RegExp, string][] = [
  [/^28/, 'check user and password in the URL, PGPASSWORD or the password file'],
  [/^3D000/, 'create the database first, or correct its name in the URL'],
  // Statements that this connection prepared are gone, or another's are there.
  [/^(42P05|26000)/, POOLED],
];
/** Values that a database cannot hold, or that exceed its limits: the fault of one unit, not of the run. */
const DATA = /^(22|54)/;
/** The server ends the connection, or has not begun to serve. */
const GOING = /^(57P0[1-5]|08)/;
/** Citus says no more than this when a server behind it is lost in the middle of a transaction. */
const INTERNAL = 'XX000';
/** Another transaction was in the way, or wrote the same key first. */
const CONFLICT = /^(40001|40P01|23505)/;

/** The SQLSTATE that a server sent; undefined for what went wrong on the way to it. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** True when the connection is of no use any more; whether the statement took effect is not known. */
export function isLost(error: unknown): boolean {
  if (error instanceof DaywalkError) return false;
  const state = sqlState(error);
  return state === undefined ? error instanceof Error && !(error instanceof TypeError) : GOING.test(state);
}

/** True when the transaction was rolled back for another one's sake: the same one succeeds when it is repeated. */
export function isConflict(error: unknown): boolean {
  return CONFLICT.test(sqlState(error) ?? '');
}

/** True when a server behind this one may be lost, while the connection itself is of use. */
export function isLostBehind(error: unknown): boolean {
  return sqlState(error) === INTERNAL;
}

/** What PostgreSQL or the way to it threw, as an error that names the place and the remedy. */
export function storageError(error: unknown, doing: string, location: string): unknown {
  if (error instanceof DaywalkError) return error;
  const state = sqlState(error);
  if (state === undefined) return isLost(error) ? unreachable(error, doing, location) : error;
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
  });
}

function unreachable(error: unknown, doing: string, location: string): StorageError {
  // A host with several addresses fails with one error for all of them, whose message is empty.
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return new StorageError(`${doing} ${location}: ${parts.map(messageOf).join('; ')}`, {
    cause: error,
    hint: 'check that the server runs and that the URL names it, then run again: it resumes',
  });
}
