import { and, eq, inArray } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { sqliteTables } from '../../../schema/sqlite.ts';
import { tables } from '../../../schema/tables.ts';
import { isDay } from '../../core/day.ts';
import { isStream, type Stream } from '../../core/stream.ts';
import { pendingUnit } from '../ledger.ts';
import type { Drift, LedgerUnit, QuarantinedRecord, Row, UnitKey, UnitState } from '../port.ts';
import { UNIT_STATES } from '../port.ts';
import type { Connection } from './connection.ts';
import { putRows } from './rows.ts';
import { deleteScope } from './statements.ts';

const { exportUnits } = sqliteTables;
type StoredUnit = typeof exportUnits.$inferSelect;

/** The columns that name a unit. */
export const UNIT_SCOPE = ['org_id', 'stream', 'date'] as const;

/** The ledger's units of an organization. */
export function readUnits(connection: Connection, orgId: string, streams?: readonly Stream[]): LedgerUnit[] {
  const inStreams = streams === undefined ? undefined : inArray(exportUnits.stream, [...streams]);
  const stored = drizzle({ client: connection.db })
    .select()
    .from(exportUnits)
    .where(and(eq(exportUnits.org_id, orgId), inStreams))
    .all();
  return stored.flatMap((row) => unitOf(row) ?? []);
}

/** The ledger's row of a unit, or a pending one where there is none. */
export function readUnit(connection: Connection, key: UnitKey): LedgerUnit {
  const sql = 'SELECT * FROM "export_units" WHERE "org_id" = ? AND "stream" = ? AND "date" = ?';
  const row = connection.prepare(sql).get(key.orgId, key.stream, key.day) as StoredUnit | undefined;
  return (row === undefined ? undefined : unitOf(row)) ?? pendingUnit(key);
}

/** Writes the ledger's row of a unit. */
export function writeUnit(connection: Connection, unit: LedgerUnit): void {
  putRows(connection, { table: tables.exportUnits, rows: [rowOf(unit)] });
}

/** Makes the quarantine of a unit exactly `records`; those that were there keep the instant they were first seen. */
export function replaceQuarantine(
  connection: Connection,
  unit: UnitKey,
  records: readonly QuarantinedRecord[],
  seenAt: Date,
): void {
  const stored = connection
    .prepareRows(
      'SELECT record_sha256, first_seen_at FROM "quarantine" WHERE org_id = ? AND stream = ? AND date = ?',
    )
    .all(unit.orgId, unit.stream, unit.day) as [string, string][];
  if (stored.length === 0 && records.length === 0) return;
  connection.prepare(deleteScope(tables.quarantine, UNIT_SCOPE)).run(unit.orgId, unit.stream, unit.day);
  addQuarantine(connection, unit, records, seenAt, new Map(stored));
}

/** Adds records to the quarantine of a unit. */
export function addQuarantine(
  connection: Connection,
  unit: UnitKey,
  records: readonly QuarantinedRecord[],
  seenAt: Date,
  firstSeen: ReadonlyMap<string, string> = new Map(),
): void {
  const insert = connection.prepare(
    'INSERT INTO "quarantine" VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  for (const { recordSha256, reason, path, record } of records) {
    const since = firstSeen.get(recordSha256) ?? seenAt.toISOString();
    insert.run(unit.orgId, unit.stream, unit.day, recordSha256, reason, path, record, since);
  }
}

/** Notes each place of drift once, with the earliest day on which it was seen; days are not pulled in order. */
export function noteDrift(
  connection: Connection,
  unit: UnitKey,
  drift: readonly Drift[],
  seenOn: string,
): void {
  if (drift.length === 0) return;
  const insert = connection.prepare(
    'INSERT INTO "schema_drift" VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE ' +
      'SET "first_seen_on" = excluded."first_seen_on" WHERE excluded."first_seen_on" < "schema_drift"."first_seen_on"',
  );
  for (const { path, kind, sample } of drift) insert.run(unit.orgId, unit.stream, path, kind, sample, seenOn);
}

/** Records a restatement. Two in the same millisecond keep both: the later one moves on by a millisecond. */
export function writeRestatement(
  connection: Connection,
  unit: UnitKey,
  at: Date,
  before: string,
  after: string,
): void {
  const insert = connection.prepare(
    'INSERT INTO "restatements" VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  for (let time = at.getTime(); ; time += 1) {
    const instant = new Date(time).toISOString();
    if (insert.run(unit.orgId, unit.stream, unit.day, instant, before, after).changes > 0) return;
  }
}

function unitOf(row: StoredUnit): LedgerUnit | undefined {
  const { stream, date } = row;
  const state = UNIT_STATES.find((name) => name === row.state);
  if (!isStream(stream) || state === undefined || !(date === '' || isDay(date))) return undefined;
  return { ...keyed(row, stream, state), day: date };
}

function keyed(row: StoredUnit, stream: Stream, state: UnitState) {
  return {
    orgId: row.org_id,
    stream,
    state,
    rows: row.rows,
    contentSha256: row.content_sha256,
    attempts: row.attempts,
    requests: row.requests,
    firstLoadedAt: row.first_loaded_at,
    lastPulledAt: row.last_pulled_at,
    changedAt: row.changed_at,
    settledAt: row.settled_at,
    cursor: row.cursor,
    lastError: row.last_error,
  };
}

function rowOf(unit: LedgerUnit): Row {
  return [
    unit.orgId,
    unit.stream,
    unit.day,
    unit.state,
    unit.rows,
    unit.contentSha256,
    unit.attempts,
    unit.requests,
    unit.firstLoadedAt,
    unit.lastPulledAt,
    unit.changedAt,
    unit.settledAt,
    unit.cursor,
    unit.lastError,
  ];
}
