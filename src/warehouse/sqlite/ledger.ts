import type { AnyTable } from '../../../schema/define.ts';
import { encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { DAILY_STREAMS, STREAMS, type Stream } from '../../core/stream.ts';
import {
  type KnownRecord,
  keyValues,
  restatementText,
  UNIT_COLUMNS,
  unitOfKey,
  unitOfValues,
  valuesOfDrift,
  valuesOfQuarantined,
  valuesOfRestatement,
  valuesOfUnit,
} from '../ledger-rows.ts';
import {
  applyDoubt,
  applyFailure,
  applyLook,
  applyReopening,
  type ChangedDay,
  settleDays,
} from '../ledger-transitions.ts';
import type {
  Drift,
  LedgerDay,
  LedgerReadiness,
  LedgerUnit,
  QuarantinedRecord,
  QuarantineScope,
  ReopenedDay,
  UnitDoubt,
  UnitFailure,
  UnitKey,
  UnitNotes,
  UnitRecord,
  Values,
} from '../port.ts';
import { dayKey, readinessKey } from '../unit.ts';
import type { Connection } from './connection.ts';
import {
  deleteScope,
  putRows,
  type Scope,
  selectRows,
  selectSums,
  selectWhere,
  statementsOf,
} from './rows.ts';

const encodeState = encoderOf(tables.exportState);

/** The ledger's units of an organization. */
export function readUnits(
  connection: Connection,
  orgId: string,
  streams: readonly Stream[] = STREAMS,
): LedgerUnit[] {
  const asked = ['"org_id" = ?', '"stream" IN (SELECT value FROM json_each(?))'];
  const read = connection.prepareRows(selectWhere(tables.exportUnits, asked));
  const stored = read.all(orgId, JSON.stringify(streams)) as Values[];
  return stored.flatMap((row) => unitOfValues(row) ?? []);
}

/** The ledger's row of a unit; a pending one if there is none. */
export function readUnit<Key extends UnitKey>(connection: Connection, key: Key): Key & UnitRecord {
  const read = connection.prepareRows(selectRows(tables.exportUnits, UNIT_COLUMNS));
  return unitOfKey(key, read.get(...keyValues(key)) as Values | undefined);
}

/** The ledger's row of the readiness reports; null if they were never pulled. */
export function readReadiness(connection: Connection, orgId: string): LedgerReadiness | null {
  const unit = readUnit(connection, readinessKey(orgId));
  return unit.state === 'pending' && unit.lastPulledAt === null ? null : unit;
}

/** Writes the ledger's row of a unit. */
export function writeUnit(connection: Connection, unit: LedgerUnit): void {
  putRows(connection, { table: tables.exportUnits, rows: [valuesOfUnit(unit)] });
}

/**
 * Writes the ledger's rows of changed units of one organization, and of other units that settle or open again with
 * them. Returns all written rows. Call inside a transaction.
 */
export function writeSettled(connection: Connection, changed: readonly ChangedDay[]): LedgerDay[] {
  const orgId = changed[0]?.unit.orgId ?? '';
  const days = new Set(changed.map(({ unit }) => unit.day));
  const known = [...days].flatMap((day) =>
    DAILY_STREAMS.map((stream) => readUnit(connection, dayKey(orgId, { stream, day }))),
  );
  const units = settleDays(changed, known);
  for (const unit of units) writeUnit(connection, unit);
  return units;
}

/** Records a failed pull, see `Warehouse.failUnit`. Call inside a transaction. */
export function failUnit(connection: Connection, failure: UnitFailure): void {
  const unit = applyFailure(readUnit(connection, failure.unit), failure);
  if (unit.kind === 'readiness') writeUnit(connection, unit);
  else writeSettled(connection, [{ unit, rule: failure.rule, isCommitted: false }]);
}

/** Records a doubt, see `Warehouse.doubtUnit`. Call inside a transaction. */
export function doubtUnit(connection: Connection, doubt: UnitDoubt): LedgerDay {
  const unit = applyDoubt(readUnit(connection, doubt.unit), doubt);
  writeSettled(connection, [{ unit, rule: doubt.rule, isCommitted: false }]);
  return unit;
}

/** Writes the notes of settled units, see `Warehouse.noteUnits`. Call inside a transaction. */
export function noteUnits(connection: Connection, orgId: string, notes: readonly UnitNotes[]): void {
  for (const look of notes) writeUnit(connection, applyLook(readUnit(connection, dayKey(orgId, look)), look));
}

/** Opens settled units again, see `Warehouse.reopenDays`. Call inside a transaction. */
export function reopenDays(connection: Connection, orgId: string, days: readonly ReopenedDay[]): LedgerDay[] {
  const units = days.flatMap(({ day, streams }) =>
    streams.map((stream) => applyReopening(readUnit(connection, dayKey(orgId, { stream, day })))),
  );
  const known = units.filter(({ state }) => state !== 'pending');
  for (const unit of known) writeUnit(connection, unit);
  return known;
}

/**
 * Makes the quarantine of a unit exactly `records`. Records that were there before keep their `first_seen_at` and
 * `accepted_at`.
 */
export function replaceQuarantine(
  connection: Connection,
  unit: UnitKey,
  records: readonly QuarantinedRecord[],
  seenAt: Date,
): void {
  const stored = connection
    .prepareRows(
      'SELECT record_sha256, first_seen_at, accepted_at FROM "quarantine" WHERE org_id = ? AND stream = ? AND date = ?',
    )
    .all(...keyValues(unit)) as [string, string, string | null][];
  if (stored.length === 0 && records.length === 0) return;
  connection.prepare(deleteScope(tables.quarantine, UNIT_COLUMNS)).run(...keyValues(unit));
  const known = new Map(stored.map(([sha256, since, acceptedAt]) => [sha256, { since, acceptedAt }]));
  addQuarantine(connection, unit, records, seenAt, known);
}

/** Adds records to the quarantine of a unit. Of a record that is there already only its place and reason change. */
export function addQuarantine(
  connection: Connection,
  unit: UnitKey,
  records: readonly QuarantinedRecord[],
  seenAt: Date,
  known: ReadonlyMap<string, KnownRecord> = new Map(),
): void {
  const insert = connection.prepare(
    `${statementsOf(tables.quarantine).insert} ON CONFLICT DO UPDATE SET "reason" = excluded."reason", "path" = excluded."path"`,
  );
  const fresh = { since: seenAt.toISOString(), acceptedAt: null };
  for (const record of records)
    insert.run(valuesOfQuarantined(unit, record, known.get(record.recordSha256) ?? fresh));
}

/** Accepts records in quarantine, see `Warehouse.acceptQuarantine`. */
export function acceptQuarantine(
  connection: Connection,
  { stream, day, orgId }: QuarantineScope,
  at: Date,
): number {
  const update = connection.prepare(
    'UPDATE "quarantine" SET accepted_at = ? WHERE accepted_at IS NULL AND stream = COALESCE(?, stream) ' +
      'AND date = COALESCE(?, date) AND org_id = COALESCE(?, org_id)',
  );
  return update.run(at.toISOString(), stream ?? null, day ?? null, orgId ?? null).changes;
}

/** Records each place of drift once, with the earliest day on which it was seen: days are not pulled in order. */
export function noteDrift(
  connection: Connection,
  unit: UnitKey,
  drift: readonly Drift[],
  seenOn: string,
): void {
  if (drift.length === 0) return;
  const insert = connection.prepare(
    `${statementsOf(tables.schemaDrift).insert} ON CONFLICT DO UPDATE SET "first_seen_on" = excluded."first_seen_on" ` +
      'WHERE excluded."first_seen_on" < "schema_drift"."first_seen_on"',
  );
  for (const place of drift) insert.run(valuesOfDrift(unit, place, seenOn));
}

/** Records a restatement. Of two in the same millisecond the later one is recorded a millisecond later. */
export function writeRestatement(
  connection: Connection,
  unit: UnitKey,
  at: Date,
  before: string,
  after: string,
): void {
  const insert = connection.prepare(`${statementsOf(tables.restatements).insert} ON CONFLICT DO NOTHING`);
  for (let time = at.getTime(); ; time += 1) {
    const detected_at = new Date(time).toISOString();
    if (insert.run(valuesOfRestatement(unit, { detected_at, before, after })).changes > 0) return;
  }
}

/** Reads the value stored under a name, see `Warehouse.state`. */
export function readState(connection: Connection, orgId: string, name: string): string | null {
  const sql = selectWhere(tables.exportState, ['"org_id" = ?', '"name" = ?'], ['value']);
  const [value] = (connection.prepareRows(sql).get(orgId, name) as Values | undefined) ?? [];
  return typeof value === 'string' ? value : null;
}

/** Stores a JSON text under a name, see `Warehouse.setState`. Call inside a transaction. */
export function writeState(connection: Connection, orgId: string, name: string, value: string): void {
  putRows(connection, { table: tables.exportState, rows: [encodeState({ org_id: orgId, name, value })] });
}

/** Computes the text that a restatement stores for the rows of a unit, see {@link restatementText}. */
export function sumsOf(
  connection: Connection,
  tables: readonly AnyTable[],
  scope: Scope & { readonly sha256: string | null },
): string {
  const sums = tables.map((table) => {
    const row = connection.prepare(selectSums(table, scope.columns)).get(...scope.values);
    return { name: table.name, sums: numbersOf(row) };
  });
  return restatementText(sums, scope.sha256);
}

function numbersOf(row: unknown): Record<string, number | null> {
  return typeof row === 'object' && row !== null
    ? Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? value : null]),
      )
    : {};
}
