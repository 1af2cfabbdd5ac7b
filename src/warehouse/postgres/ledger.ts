import type { AnyTable } from '../../../schema/define.ts';
import { tables } from '../../../schema/tables.ts';
import type { Stream } from '../../core/stream.ts';
import { rowOfUnit, unitOfRow } from '../ledger-rows.ts';
import type { Drift, LedgerUnit, QuarantinedRecord, Row, UnitKey } from '../port.ts';
import { restatementText } from '../restatement.ts';
import { pendingUnit } from '../unit.ts';
import type { Link, Parameter } from './link.ts';
import { arraysOf, everyPosition, putRows, removeRows } from './rows.ts';
import { rowsFromArrays, selectSums, selectWhere, tableIn } from './statements.ts';

const { exportState, exportUnits, quarantine, restatements, schemaDrift } = tables;

/** The ledger's units of an organization. */
export async function readUnits(
  link: Link,
  orgId: string,
  streams?: readonly Stream[],
): Promise<LedgerUnit[]> {
  const stored = await link.query(selectWhere(link, exportUnits, ['"org_id" = $1']), [orgId]);
  const units = stored.flatMap((row) => unitOfRow(row) ?? []);
  return streams === undefined ? units : units.filter(({ stream }) => streams.includes(stream));
}

/** The ledger's rows of units of one organization, in their order; pending ones where there is none. */
export async function readUnitRows(link: Link, keys: readonly UnitKey[]): Promise<LedgerUnit[]> {
  const conditions = [
    '"org_id" = $1',
    '("stream", "date") IN (SELECT * FROM unnest($2::text[], $3::text[]))',
  ];
  const stored = await link.query(selectWhere(link, exportUnits, conditions), [
    keys[0]?.orgId ?? '',
    keys.map(({ stream }) => stream),
    keys.map(({ day }) => day),
  ]);
  const units = new Map(stored.flatMap((row) => unitOfRow(row) ?? []).map((unit) => [nameOf(unit), unit]));
  return keys.map((key) => units.get(nameOf(key)) ?? pendingUnit(key));
}

function nameOf({ stream, day }: UnitKey): string {
  return `${stream} ${day}`;
}

/** The ledger's row of one unit, or a pending one. */
export async function readUnit(link: Link, key: UnitKey): Promise<LedgerUnit> {
  const [unit] = await readUnitRows(link, [key]);
  return unit ?? pendingUnit(key);
}

/** Writes the ledger's rows of units. */
export async function writeUnits(link: Link, units: readonly LedgerUnit[]): Promise<void> {
  await putRows(link, { table: exportUnits, rows: units.map(rowOfUnit) });
}

/** Quarantined records of one unit. */
export interface UnitQuarantine extends UnitKey {
  readonly quarantined: readonly QuarantinedRecord[];
  readonly pulledAt: Date;
}

/** What stays of a record that is in quarantine already. */
interface KnownRecord {
  readonly since: string;
  readonly acceptedAt: string | null;
}

/**
 * Makes the quarantine of each unit exactly its records; those that were there keep the instant they were first seen, and
 * the one they were accepted.
 */
export async function replaceQuarantine(link: Link, units: readonly UnitQuarantine[]): Promise<void> {
  const stored = await link.query(
    `SELECT "stream", "date", "record_sha256", "first_seen_at", "accepted_at" FROM ${tableIn(link, quarantine)} WHERE "org_id" = $1 ` +
      'AND ("stream", "date") IN (SELECT * FROM unnest($2::text[], $3::text[]))',
    [units[0]?.orgId ?? '', units.map(({ stream }) => stream), units.map(({ day }) => day)],
  );
  for (const unit of units) {
    const own = stored.filter(([stream, day]) => stream === unit.stream && day === unit.day);
    if (own.length === 0 && unit.quarantined.length === 0) continue;
    const gone = own.map(([stream, day, sha256]) => [unit.orgId, stream ?? '', day ?? '', sha256 ?? '']);
    await removeRows(link, { table: quarantine, rows: gone });
    const known = own.map(([, , sha256, since, acceptedAt]): [string, KnownRecord] => [
      String(sha256),
      { since: String(since), acceptedAt: typeof acceptedAt === 'string' ? acceptedAt : null },
    ]);
    await addQuarantine(link, unit, new Map(known));
  }
}

/** Adds records to the quarantine of a unit. One that is there may stand elsewhere now; since when it is known stays. */
export async function addQuarantine(
  link: Link,
  { orgId, stream, day, quarantined, pulledAt }: UnitQuarantine,
  known: ReadonlyMap<string, KnownRecord> = new Map(),
): Promise<void> {
  if (quarantined.length === 0) return;
  const rows = quarantined.map(({ recordSha256, reason, path, record }) => [
    orgId,
    stream,
    day,
    recordSha256,
    reason,
    path,
    record,
    known.get(recordSha256)?.since ?? pulledAt.toISOString(),
    known.get(recordSha256)?.acceptedAt ?? null,
  ]);
  await link.execute(
    `INSERT INTO ${tableIn(link, quarantine)} ${rowsFromArrays(quarantine)} ON CONFLICT ("org_id", "stream", "date", "record_sha256") ` +
      'DO UPDATE SET "reason" = excluded."reason", "path" = excluded."path"',
    arraysOf(rows, everyPosition(quarantine)),
  );
}

/** Notes each place of drift once, with the earliest day on which it was seen; days are not pulled in order. */
export async function noteDrift(
  link: Link,
  { orgId, stream }: UnitKey,
  drift: readonly Drift[],
  seenOn: string,
): Promise<void> {
  if (drift.length === 0) return;
  // In one order, so that workers that note the same places do not wait for each other in a circle.
  const sorted = drift.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const rows = sorted.map(({ path, kind, sample }): Row => [orgId, stream, path, kind, sample, seenOn]);
  await link.execute(
    `INSERT INTO ${tableIn(link, schemaDrift)} AS stored ${rowsFromArrays(schemaDrift)} ` +
      'ON CONFLICT ("org_id", "stream", "path") DO UPDATE SET "first_seen_on" = excluded."first_seen_on" ' +
      'WHERE excluded."first_seen_on" < stored."first_seen_on"',
    arraysOf(rows, everyPosition(schemaDrift)),
  );
}

/** Records a restatement. Two in the same millisecond keep both: the later one moves on by a millisecond. */
export async function writeRestatement(
  link: Link,
  unit: UnitKey,
  at: Date,
  { before, after }: { readonly before: string; readonly after: string },
): Promise<void> {
  for (let time = at.getTime(); ; time += 1) {
    const instant = new Date(time).toISOString();
    const row = [unit.orgId, unit.stream, unit.day, instant, before, after];
    if (await insertRestatement(link, row)) return;
  }
}

/** What a restatement records of the stored rows of a unit, see {@link restatementText}. */
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

function numberOf(value: Row[number] | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/** False where the place of the row is taken. Told by the row that comes back: Citus counts those that were sent. */
async function insertRestatement(link: Link, row: Row): Promise<boolean> {
  const written = await link.query(
    `INSERT INTO ${tableIn(link, restatements)} ${rowsFromArrays(restatements)} ON CONFLICT DO NOTHING RETURNING "org_id"`,
    arraysOf([row], everyPosition(restatements)),
  );
  return written.length > 0;
}

/** What is remembered under a name, see `Warehouse.state`. */
export async function readState(link: Link, orgId: string, name: string): Promise<string | null> {
  const sql = selectWhere(link, exportState, ['"org_id" = $1', '"name" = $2'], ['value']);
  const [[value] = []] = await link.query(sql, [orgId, name]);
  return typeof value === 'string' ? value : null;
}

/** Remembers a JSON text, see `Warehouse.setState`. */
export async function writeState(link: Link, orgId: string, name: string, value: string): Promise<void> {
  await putRows(link, { table: exportState, rows: [[orgId, name, value]] });
}
