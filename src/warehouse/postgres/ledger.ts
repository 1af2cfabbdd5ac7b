import type { AnyTable } from '../../../schema/define.ts';
import { encoderOf, readerOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS, STREAMS, type Stream } from '../../core/stream.ts';
import {
  type KnownRecord,
  keyValues,
  restatementText,
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
  DayCommit,
  Drift,
  LedgerDay,
  LedgerReadiness,
  LedgerUnit,
  QuarantinedRecord,
  ReopenedDay,
  UnitDoubt,
  UnitFailure,
  UnitKey,
  UnitNotes,
  UnitRecord,
  Value,
  Values,
} from '../port.ts';
import { dayKey, pendingUnit, readinessKey } from '../unit.ts';
import type { Link, Parameter } from './link.ts';
import { arraysOf, putRows, removeKeys, rowsFromArrays, selectSums, selectWhere, tableIn } from './rows.ts';
import { lockKey } from './session.ts';

const { exportState, exportUnits, quarantine, restatements, schemaDrift } = tables;
const encodeState = encoderOf(exportState);
const streamOf = readerOf(exportUnits, 'stream');
const dateOf = readerOf(exportUnits, 'date');

/** A condition for units: parameter 2 holds their streams, parameter 3 their dates. */
const AMONG_UNITS = '("stream", "date") IN (SELECT * FROM unnest($2::text[], $3::text[]))';

/** The ledger's units of an organization. */
export async function readUnits(
  link: Link,
  orgId: string,
  streams: readonly Stream[] = STREAMS,
): Promise<LedgerUnit[]> {
  const asked = ['"org_id" = $1', '"stream" = ANY($2)'];
  const stored = await link.query(selectWhere(link, exportUnits, asked), [orgId, streams]);
  return stored.flatMap((row) => unitOfValues(row) ?? []);
}

/** The ledger's rows of units of one organization, in the order of `keys`; pending ones for units without a row. */
export async function readUnitRows<Key extends UnitKey>(
  link: Link,
  keys: readonly Key[],
): Promise<(Key & UnitRecord)[]> {
  const columns = keys.map(keyValues);
  const stored = await link.query(selectWhere(link, exportUnits, ['"org_id" = $1', AMONG_UNITS]), [
    keys[0]?.orgId ?? '',
    columns.map(([, stream]) => stream),
    columns.map(([, , date]) => date),
  ]);
  const rows = new Map(stored.map((row) => [`${streamOf(row)} ${dateOf(row)}`, row]));
  return keys.map((key, index) => unitOfKey(key, rows.get(columns[index]?.slice(1).join(' ') ?? '')));
}

/** The ledger's row of a unit; a pending one if there is none. */
export async function readUnit<Key extends UnitKey>(link: Link, key: Key): Promise<Key & UnitRecord> {
  const [unit] = await readUnitRows(link, [key]);
  return unit ?? pendingUnit(key);
}

/** The ledger's row of the readiness reports; null if they were never pulled. */
export async function readReadiness(link: Link, orgId: string): Promise<LedgerReadiness | null> {
  const unit = await readUnit(link, readinessKey(orgId));
  return unit.state === 'pending' && unit.lastPulledAt === null ? null : unit;
}

/** Writes the ledger's rows of units. */
export async function writeUnits(link: Link, units: readonly LedgerUnit[]): Promise<void> {
  await putRows(link, { table: exportUnits, rows: units.map(valuesOfUnit) });
}

/** Quarantined records of one unit. */
export interface UnitQuarantine {
  readonly unit: UnitKey;
  readonly quarantined: readonly QuarantinedRecord[];
  readonly pulledAt: Date;
}

/**
 * Makes the quarantine of each unit exactly its records. Records that were there before keep their `first_seen_at`
 * and `accepted_at`.
 */
export async function replaceQuarantine(link: Link, commits: readonly DayCommit[]): Promise<void> {
  const stored = await link.query(
    `SELECT "stream", "date", "record_sha256", "first_seen_at", "accepted_at" FROM ${tableIn(link, quarantine)} ` +
      `WHERE "org_id" = $1 AND ${AMONG_UNITS}`,
    [commits[0]?.orgId ?? '', commits.map(({ stream }) => stream), commits.map(({ day }) => day)],
  );
  for (const { orgId, quarantined, pulledAt, ...commit } of commits) {
    const own = stored.filter(([stream, day]) => stream === commit.stream && day === commit.day);
    if (own.length === 0 && quarantined.length === 0) continue;
    const gone = own.map(([stream = '', day = '', sha256 = '']) => [orgId, stream, day, sha256]);
    await removeKeys(link, quarantine, gone);
    const known = own.map(([, , sha256, since, acceptedAt]): [string, KnownRecord] => [
      String(sha256),
      { since: String(since), acceptedAt: typeof acceptedAt === 'string' ? acceptedAt : null },
    ]);
    await addQuarantine(link, { unit: dayKey(orgId, commit), quarantined, pulledAt }, new Map(known));
  }
}

/** Adds records to the quarantine of a unit. Of a record that is there already only its place and reason change. */
export async function addQuarantine(
  link: Link,
  { unit, quarantined, pulledAt }: UnitQuarantine,
  known: ReadonlyMap<string, KnownRecord> = new Map(),
): Promise<void> {
  if (quarantined.length === 0) return;
  const fresh = { since: pulledAt.toISOString(), acceptedAt: null };
  const rows = quarantined.map((record) =>
    valuesOfQuarantined(unit, record, known.get(record.recordSha256) ?? fresh),
  );
  await link.execute(
    `INSERT INTO ${tableIn(link, quarantine)} ${rowsFromArrays(quarantine)} ON CONFLICT ("org_id", "stream", "date", "record_sha256") ` +
      'DO UPDATE SET "reason" = excluded."reason", "path" = excluded."path"',
    arraysOf(rows),
  );
}

/** Records each place of drift once, with the earliest day on which it was seen: days are not pulled in order. */
export async function noteDrift(
  link: Link,
  unit: Pick<UnitKey, 'orgId' | 'stream'>,
  drift: readonly Drift[],
  seenOn: string,
): Promise<void> {
  if (drift.length === 0) return;
  // All workers use one order, so that they cannot deadlock.
  const sorted = drift.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const rows = sorted.map((place) => valuesOfDrift(unit, place, seenOn));
  await link.execute(
    `INSERT INTO ${tableIn(link, schemaDrift)} AS stored ${rowsFromArrays(schemaDrift)} ` +
      'ON CONFLICT ("org_id", "stream", "path") DO UPDATE SET "first_seen_on" = excluded."first_seen_on" ' +
      'WHERE excluded."first_seen_on" < stored."first_seen_on"',
    arraysOf(rows),
  );
}

/** Records a restatement. Of two in the same millisecond the later one is recorded a millisecond later. */
export async function writeRestatement(
  link: Link,
  unit: UnitKey,
  at: Date,
  { before, after }: { readonly before: string; readonly after: string },
): Promise<void> {
  for (let time = at.getTime(); ; time += 1) {
    const detected_at = new Date(time).toISOString();
    if (await insertRestatement(link, valuesOfRestatement(unit, { detected_at, before, after }))) return;
  }
}

/** Computes the text that a restatement stores for the rows of a unit, see {@link restatementText}. */
export async function sumsOf(
  link: Link,
  specs: readonly AnyTable[],
  scope: { readonly conditions: readonly string[]; readonly values: readonly Parameter[] },
  contentSha256: string | null,
): Promise<string> {
  const sums = [];
  for (const table of specs) {
    const { sql, names } = selectSums(link, table, scope.conditions);
    const [[rows, ...totals] = []] = await link.query(sql, scope.values);
    const entries = names.map((name, index) => [name, numberOf(totals[index])]);
    sums.push({ name: table.name, sums: { rows: numberOf(rows), ...Object.fromEntries(entries) } });
  }
  return restatementText(sums, contentSha256);
}

function numberOf(value: Value | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/** False if the key exists. It counts the returned rows, because Citus reports the number of rows sent. */
async function insertRestatement(link: Link, row: Values): Promise<boolean> {
  const written = await link.query(
    `INSERT INTO ${tableIn(link, restatements)} ${rowsFromArrays(restatements)} ON CONFLICT DO NOTHING RETURNING "org_id"`,
    arraysOf([row]),
  );
  return written.length > 0;
}

/** Reads the value stored under a name, see `Warehouse.state`. */
export async function readState(link: Link, orgId: string, name: string): Promise<string | null> {
  const sql = selectWhere(link, exportState, ['"org_id" = $1', '"name" = $2'], ['value']);
  const [[value] = []] = await link.query(sql, [orgId, name]);
  return typeof value === 'string' ? value : null;
}

/** Stores a JSON text under a name, see `Warehouse.setState`. */
export async function writeState(link: Link, orgId: string, name: string, value: string): Promise<void> {
  await putRows(link, { table: exportState, rows: [encodeState({ org_id: orgId, name, value })] });
}

/**
 * Writes the ledger's rows of changed units of one organization, and of other units that settle or open again with
 * them. Returns all written rows. Workers that change the same day take turns, so that the last one sees what the
 * others committed. Call last in a transaction.
 */
export async function writeSettled(link: Link, changed: readonly ChangedDay[]): Promise<LedgerDay[]> {
  const days = changed.map(({ unit }) => unit.day);
  const units = settleDays(changed, await lockDays(link, changed[0]?.unit.orgId ?? '', days));
  await writeUnits(link, units);
  return units;
}

/** Locks days against other workers and returns their units. */
async function lockDays(link: Link, orgId: string, wanted: readonly UtcDay[]): Promise<LedgerDay[]> {
  const days = [...new Set(wanted)];
  if (days.length === 0) return [];
  // All workers use one order, so that they cannot deadlock.
  const locks = days.map((day) => lockKey(link.schema, ['day', orgId, day])).sort();
  await link.query('SELECT pg_advisory_xact_lock(key) FROM pg_catalog.unnest($1::bigint[]) AS wanted(key)', [
    locks,
  ]);
  return readUnitRows(
    link,
    days.flatMap((day) => DAILY_STREAMS.map((stream) => dayKey(orgId, { stream, day }))),
  );
}

/** Records a failed pull, see `Warehouse.failUnit`. */
export async function failUnit(link: Link, failure: UnitFailure): Promise<void> {
  const unit = applyFailure(await readUnit(link, failure.unit), failure);
  if (unit.kind === 'readiness') await writeUnits(link, [unit]);
  else await writeSettled(link, [{ unit, rule: failure.rule, isCommitted: false }]);
}

/** Records a doubt, see `Warehouse.doubtUnit`. */
export async function doubtUnit(link: Link, doubt: UnitDoubt): Promise<LedgerDay> {
  const unit = applyDoubt(await readUnit(link, doubt.unit), doubt);
  await writeSettled(link, [{ unit, rule: doubt.rule, isCommitted: false }]);
  return unit;
}

/** Writes the notes of settled units, see `Warehouse.noteUnits`. */
export async function noteUnits(link: Link, orgId: string, notes: readonly UnitNotes[]): Promise<void> {
  const days = notes.map(({ day }) => day);
  const known = await lockDays(link, orgId, days);
  const looked = notes.flatMap((look) => {
    const unit = known.find(({ stream, day }) => stream === look.stream && day === look.day);
    return unit === undefined ? [] : [applyLook(unit, look)];
  });
  await writeUnits(link, looked);
}

/** Opens settled units again, see `Warehouse.reopenDays`. */
export async function reopenDays(
  link: Link,
  orgId: string,
  days: readonly ReopenedDay[],
): Promise<LedgerDay[]> {
  const known = await lockDays(
    link,
    orgId,
    days.map(({ day }) => day),
  );
  const units = days.flatMap(({ day, streams }) =>
    known.filter((unit) => unit.day === day && streams.includes(unit.stream) && unit.state !== 'pending'),
  );
  const reopened = units.map(applyReopening);
  await writeUnits(link, reopened);
  return reopened;
}
