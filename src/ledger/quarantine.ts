import { sql } from '../../schema/query.ts';
import { compareUtf8, encoderOf, type Values } from '../../schema/row.ts';
import { tables, WITHHELD_RECORD } from '../../schema/tables.ts';
import type { UtcDay } from '../core/day.ts';
import { isDay } from '../core/day.ts';
import { isStream, type Stream } from '../core/stream.ts';
import { noteAct } from '../marks/index.ts';
import type { QueryRow, Steps, Warehouse } from '../port/index.ts';
import { type DayCommit, dayKey, type QuarantinedRecord, type UnitKey } from '../units/index.ts';
import { keyColumns, keyValues } from './unit-rows.ts';

const { quarantine, schemaDrift } = tables;
const encodeQuarantined = encoderOf(quarantine);
const encodeDrift = encoderOf(schemaDrift);

/** How many records are in quarantine, by organization, stream and reason. */
export interface QuarantineCount {
  readonly orgId: string;
  readonly stream: Stream;
  readonly reason: string;
  readonly records: number;
  /** How many of them a person accepted. Those no longer count for the exit code. */
  readonly accepted: number;
}

/** Counts the records in quarantine, in the order of organization, stream and reason. */
export async function countQuarantine(warehouse: Pick<Warehouse, 'read'>): Promise<QuarantineCount[]> {
  const counts = await warehouse.read(function* () {
    const rows = yield sql`SELECT org_id, stream, reason, COUNT(*) AS records, COUNT(accepted_at) AS accepted
      FROM quarantine GROUP BY org_id, stream, reason`;
    return rows.flatMap(countOf);
  });
  return counts.sort(
    (a, b) =>
      compareUtf8(a.orgId, b.orgId) || compareUtf8(a.stream, b.stream) || compareUtf8(a.reason, b.reason),
  );
}

function countOf({ org_id: orgId, stream, reason, ...counted }: QueryRow): QuarantineCount[] {
  if (!isStream(stream)) return [];
  const counts = { records: Number(counted['records']), accepted: Number(counted['accepted']) };
  return [{ orgId: String(orgId), stream, reason: String(reason), ...counts }];
}

/** The records in quarantine of a unit that count for the exit code. */
export interface OpenRecords {
  readonly stream: Stream;
  /** '' for readiness. */
  readonly day: UtcDay | '';
  readonly records: number;
  /** When the oldest was first seen, as an ISO instant. */
  readonly since: string;
}

/** Reads which units of an organization have records in quarantine that count for the exit code. */
export async function readOpenRecords(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
): Promise<OpenRecords[]> {
  const rows = await warehouse.select(sql`
    SELECT stream, CAST(date AS TEXT) AS day, COUNT(*) AS records, MIN(first_seen_at) AS since
    FROM quarantine WHERE org_id = ${orgId} AND accepted_at IS NULL GROUP BY stream, date ORDER BY stream, date`);
  return rows.flatMap(({ stream, day, records, since }) =>
    isStream(stream) && (day === '' || isDay(day))
      ? [{ stream, day, records: Number(records), since: String(since) }]
      : [],
  );
}

/** Which records in quarantine to accept. Without a stream: all streams. Without a day: all days. */
export interface QuarantineScope {
  readonly stream?: Stream | undefined;
  readonly day?: UtcDay | undefined;
  /** @default all organizations */
  readonly orgId?: string | undefined;
}

/** What {@link acceptQuarantine} found. */
export interface AcceptedRecords {
  /** Records that were not accepted before. */
  readonly accepted: number;
  /** All records of the scope, with those that were accepted before. */
  readonly found: number;
}

/** Accepts the records of a scope that were not accepted before. They stay in quarantine. */
export function acceptQuarantine(
  warehouse: Pick<Warehouse, 'transact'>,
  { stream, day, orgId }: QuarantineScope,
  at: Date,
): Promise<AcceptedRecords> {
  const conditions = [
    ...(stream === undefined ? [] : [sql`stream = ${stream}`]),
    ...(day === undefined ? [] : [sql`date = ${day}`]),
    ...(orgId === undefined ? [] : [sql`org_id = ${orgId}`]),
  ];
  const scope = sql.join([sql`record_sha256 IS NOT NULL`, ...conditions], sql` AND `);
  const steps = function* (): Steps<AcceptedRecords> {
    const accepted = yield sql`UPDATE quarantine SET accepted_at = ${at.toISOString()}
      WHERE accepted_at IS NULL AND ${scope} RETURNING record_sha256`;
    if (accepted.length > 0) yield* noteAct('quarantine', at);
    const [counted] = yield sql`SELECT COUNT(*) AS found FROM quarantine WHERE ${scope}`;
    return { accepted: accepted.length, found: Number(counted?.['found']) };
  };
  return warehouse.transact('accept records in the quarantine of', steps, 'latest');
}

/**
 * Makes the quarantine of each day exactly its records. Records that were there before keep their `first_seen_at`, unless
 * that is in the future, and their `accepted_at`.
 */
export function* replaceQuarantine(commits: readonly DayCommit[]): Steps<void> {
  const units = commits.map((commit) => dayKey(commit.orgId, commit));
  const stored = yield* readQuarantine(units.map(keyValues));
  for (const [index, { quarantined, pulledAt }] of commits.entries()) {
    const unit = units[index];
    if (unit === undefined) continue;
    const own = stored.filter(({ stream, date }) => stream === unit.stream && date === unit.day);
    if (own.length > 0) {
      const kept = new Set(quarantined.map(({ recordSha256 }) => recordSha256));
      const gone = own.filter(({ sha256 }) => !kept.has(sha256));
      if (gone.length > 0) yield removal(unit, gone);
    }
    yield* putQuarantine(unit, { quarantined, pulledAt, known: own });
  }
}

/** Adds records to the quarantine of a unit. Of a record that is there already only its place and reason change, and it may be accepted. */
export function* addQuarantine(
  unit: UnitKey,
  quarantined: readonly QuarantinedRecord[],
  pulledAt: Date,
): Steps<void> {
  if (quarantined.length === 0) return;
  const keys = quarantined.map(({ recordSha256 }) => [...keyValues(unit), recordSha256]);
  yield* putQuarantine(unit, { quarantined, pulledAt, known: yield* readQuarantine(keys) });
}

/** Removes from the quarantine of a unit what is not among `seen`, unless it is null. Returns how many records are left. */
export function* settleQuarantine(unit: UnitKey, seen: ReadonlySet<string> | null): Steps<number> {
  const stored = yield* readQuarantine([keyValues(unit)]);
  const gone = seen === null ? [] : stored.filter(({ sha256 }) => !seen.has(sha256));
  if (gone.length > 0) yield removal(unit, gone);
  return stored.length - gone.length;
}

/** A record in quarantine: what names it, and what it keeps when it is seen again. */
interface StoredRecord {
  readonly stream: string;
  readonly date: string;
  readonly sha256: string;
  readonly since: string;
  readonly acceptedAt: string | null;
  /** Its text is older than it is to be kept, and does not come back. */
  readonly isWithheld: boolean;
}

const READ = ['stream', 'date', 'record_sha256', 'record', 'first_seen_at', 'accepted_at'];

function* readQuarantine(keys: readonly Values[]): Steps<StoredRecord[]> {
  if (keys.length === 0) return [];
  const stored = yield { table: quarantine, find: keys, columns: READ };
  return stored.map((row) => ({
    stream: String(row['stream']),
    date: String(row['date']),
    sha256: String(row['record_sha256']),
    since: String(row['first_seen_at']),
    acceptedAt: row['accepted_at'] == null ? null : String(row['accepted_at']),
    isWithheld: row['record'] === WITHHELD_RECORD,
  }));
}

function* putQuarantine(
  unit: UnitKey,
  {
    quarantined,
    pulledAt,
    known,
  }: {
    readonly quarantined: readonly QuarantinedRecord[];
    readonly pulledAt: Date;
    readonly known: readonly StoredRecord[];
  },
): Steps<void> {
  if (quarantined.length === 0) return;
  const earlier = new Map(known.map((record) => [record.sha256, record]));
  // An answer may hold the same record twice.
  const rows = new Map(
    quarantined.map(({ recordSha256, reason, path, record, acceptedAt: agedAt = null }) => {
      const now = pulledAt.toISOString();
      const { since = now, acceptedAt = null, isWithheld = false } = earlier.get(recordSha256) ?? {};
      const row = encodeQuarantined({
        ...keyColumns(unit),
        record_sha256: recordSha256,
        reason,
        path,
        record: isWithheld ? WITHHELD_RECORD : record,
        // First seen while a clock was ahead, it would settle only so many days after that time.
        first_seen_at: since > now ? now : since,
        accepted_at: acceptedAt ?? agedAt,
      });
      return [recordSha256, row];
    }),
  );
  yield { table: quarantine, rows: [...rows.values()] };
}

function removal(unit: UnitKey, records: readonly StoredRecord[]) {
  return { table: quarantine, remove: records.map(({ sha256 }) => [...keyValues(unit), sha256]) };
}

/** Places of drift that are stored of one stream of an organization. Names of fields come from the service. */
const PLACES_MAX = 500;
/** Maximum length of a stored path, in characters. */
const PATH_CHARS_MAX = 300;
/** The path of the row that counts the places beyond {@link PLACES_MAX}. */
const FURTHER = '…';

/**
 * Records each place of drift once, with the earliest day on which it was seen: days are not pulled in order. Places
 * beyond {@link PLACES_MAX} are counted in one row.
 */
export function* noteDrift(
  { orgId, stream }: Pick<UnitKey, 'orgId' | 'stream'>,
  drift: DayCommit['drift'],
  seenOn: string,
): Steps<void> {
  if (drift.length === 0) return;
  const select = sql`
    SELECT path, kind, sample, first_seen_on FROM schema_drift WHERE org_id = ${orgId} AND stream = ${stream}`;
  if (changedPlaces(yield select, drift, seenOn).length === 0) return;
  // Two workers must not both store the last place. Most answers bring nothing new and need no lock.
  yield { lock: [['drift', orgId]] };
  const rows = changedPlaces(yield select, drift, seenOn).map(({ seenOn: first_seen_on, ...place }) =>
    encodeDrift({ org_id: orgId, stream, first_seen_on, ...place }),
  );
  yield { table: schemaDrift, rows };
}

interface DriftPlace {
  readonly path: string;
  readonly kind: string;
  readonly sample: string;
  readonly seenOn: string;
}

/** The places to insert or to update, so that the stored ones include `drift`. */
function changedPlaces(stored: readonly QueryRow[], drift: DayCommit['drift'], seenOn: string): DriftPlace[] {
  const known = new Map(stored.map((row) => [String(row['path']), placeOf(row)]));
  let left = PLACES_MAX - known.size + Number(known.has(FURTHER));
  const changed = new Map<string, DriftPlace>();
  const further = new Set<string>();
  for (const { path: full, kind, sample } of drift) {
    const path =
      full.length <= PATH_CHARS_MAX ? full : `${full.slice(0, PATH_CHARS_MAX - 1).toWellFormed()}${FURTHER}`;
    const place = known.get(path);
    if (place !== undefined && seenOn < place.seenOn) changed.set(path, { ...place, seenOn });
    if (place !== undefined || changed.has(path)) continue;
    if (left <= 0) further.add(path);
    else changed.set(path, { path, kind, sample, seenOn });
    left -= 1;
  }
  return further.size === 0
    ? [...changed.values()]
    : [...changed.values(), ...countFurther(further.size, known.get(FURTHER), seenOn)];
}

/** The row that counts further places: the most that one answer had. Their paths are not stored, so nobody can add them up. */
function countFurther(count: number, before: DriftPlace | undefined, seenOn: string): DriftPlace[] {
  const known = Number(/\d+/.exec(before?.sample ?? '')?.[0] ?? 0);
  const since = before === undefined || seenOn < before.seenOn ? seenOn : before.seenOn;
  if (count <= known && since === before?.seenOn) return [];
  const sample = `at least ${Math.max(count, known)} further places`;
  return [{ path: FURTHER, kind: 'unknown field', sample, seenOn: since }];
}

function placeOf(row: QueryRow): DriftPlace {
  const [path, kind, sample, seenOn] = ['path', 'kind', 'sample', 'first_seen_on'].map((name) =>
    String(row[name] ?? ''),
  );
  return { path: path ?? '', kind: kind ?? '', sample: sample ?? '', seenOn: seenOn ?? '' };
}
