import type { EncodedRows } from '../../schema/digest.ts';
import { type SQL, sql, storedUnit as storedUnitText } from '../../schema/query.ts';
import type { UtcDay } from '../core/day.ts';
import type { DailyStream } from '../core/stream.ts';
import type { SettleRule } from '../judge/agreement.ts';
import { parseNotes } from '../judge/notes.ts';

/** The states of a unit, see the column `export_units.state`. */
export const UNIT_STATES = [
  'pending',
  'awaiting',
  'loaded',
  'empty',
  'doubted',
  'quarantined',
  'failed',
  'expired',
] as const;

/** One of {@link UNIT_STATES}. */
export type UnitState = (typeof UNIT_STATES)[number];

/**
 * Why a unit settled: it has rows with activity (`data`), no stream of its day has any (`agreed`), or it is so old
 * that it is no longer pulled although nothing confirmed it, or although some of its keys are in quarantine (`age`).
 */
export const CONFIRMATIONS = ['data', 'agreed', 'age'] as const;

/** One of {@link CONFIRMATIONS}. */
type Confirmation = (typeof CONFIRMATIONS)[number];

/** One stream of one UTC day. */
export interface DayUnit {
  readonly stream: DailyStream;
  readonly day: UtcDay;
}

/** All readiness reports of an organization: they have no days and are one unit. */
interface ReadinessUnit {
  readonly stream: 'readiness';
}

/** A unit of one organization, by name. */
export type UnitName = DayUnit | ReadinessUnit;

/** A unit of an organization that has one stream and one day. */
export interface DayKey extends DayUnit {
  readonly kind: 'day';
  readonly orgId: string;
}

/** The readiness reports of an organization. */
interface ReadinessKey extends ReadinessUnit {
  readonly kind: 'readiness';
  readonly orgId: string;
}

/** Names a unit, the smallest thing that is pulled and recorded as a whole. */
export type UnitKey = DayKey | ReadinessKey;

/** What the ledger records of any unit. Instants are ISO texts. */
export interface UnitRecord {
  readonly state: UnitState;
  readonly rows: number;
  readonly contentSha256: string | null;
  readonly attempts: number;
  readonly requests: number;
  readonly firstLoadedAt: string | null;
  readonly lastPulledAt: string | null;
  readonly changedAt: string | null;
  readonly settledAt: string | null;
  /** Where a readiness walk resumes, as JSON text; null for days. */
  readonly cursor: string | null;
  readonly lastError: string | null;
  /** Digest of the answers from which the content was made. */
  readonly answersSha256: string | null;
  readonly doubtedAt: string | null;
  /** The present doubt as JSON text, see `src/judge/doubt.ts`. */
  readonly doubt: string | null;
  readonly confirmed: Confirmation | null;
  /** The run that last changed the content. */
  readonly runId: string | null;
  /** Active users according to the content; null for streams that count none. */
  readonly activeUsers: number | null;
  /** Notes of the watch as JSON text, see `src/judge/notes.ts`. */
  readonly watch: string | null;
}

/** The ledger's row of a day. */
export type LedgerDay = DayKey & UnitRecord;

/** The ledger's row of the readiness reports. */
export type LedgerReadiness = ReadinessKey & UnitRecord;

/** A row of the ledger. */
export type LedgerUnit = LedgerDay | LedgerReadiness;

/** The key of a day's unit. */
export function dayKey(orgId: string, { stream, day }: DayUnit): DayKey {
  return { kind: 'day', orgId, stream, day };
}

/** The key of the readiness reports. */
export function readinessKey(orgId: string): ReadinessKey {
  return { kind: 'readiness', orgId, stream: 'readiness' };
}

/** True for the ledger's row of a day. */
export function isDayUnit(unit: LedgerUnit): unit is LedgerDay {
  return unit.kind === 'day';
}

/** Names a unit in messages and maps: `users 2026-03-01`, `readiness`. */
export function unitName(unit: UnitName): string {
  return unit.stream === 'readiness' ? unit.stream : `${unit.stream} ${unit.day}`;
}

/** What the ledger records of a unit that was never pulled. */
const PENDING: UnitRecord = {
  state: 'pending',
  rows: 0,
  contentSha256: null,
  attempts: 0,
  requests: 0,
  firstLoadedAt: null,
  lastPulledAt: null,
  changedAt: null,
  settledAt: null,
  cursor: null,
  lastError: null,
  answersSha256: null,
  doubtedAt: null,
  doubt: null,
  confirmed: null,
  runId: null,
  activeUsers: null,
  watch: null,
};

/** The `date` of a unit, as tables and JSON documents have it: '' for readiness, which has no days. */
export function dateOf(unit: UnitName): UtcDay | '' {
  return unit.stream === 'readiness' ? '' : unit.day;
}

/**
 * The unit of `key` with its record. V8 adds each property to a spread object in 3 µs, and a run builds a thousand units:
 * with `{ ...key, ...record }` this took a tenth of a small run, and with `Object.assign` a hundredth.
 */
export function keyed<Key extends UnitKey, Fields extends object>(key: Key, record: Fields): Key & Fields {
  return Object.assign({}, key, record);
}

/** The ledger's row of a unit that was never pulled. */
export function pendingUnit<Key extends UnitKey>(key: Key): Key & UnitRecord {
  return keyed(key, PENDING);
}

/** A record in quarantine, as JSON text. */
export interface QuarantinedRecord {
  readonly reason: string;
  /** Place in the record, for example `by_tool[3].tool`; '' for the record itself. */
  readonly path: string;
  readonly record: string;
  readonly recordSha256: string;
  /**
   * The record is well-formed and says something impossible or contradictory, so the stored row of its key stays.
   * @default false
   */
  readonly isHeld?: boolean;
  /**
   * When the record stopped counting for the exit code, because the service kept sending it.
   * @default it counts
   */
  readonly acceptedAt?: string;
}

/** A place where an answer does not fit the known schema. */
interface Drift {
  readonly path: string;
  readonly kind: 'unknown field' | 'wrong type' | 'new value';
  readonly sample: string;
}

/** The content of one day of one stream, ready to be stored. */
export interface DayCommit extends DayKey {
  /** Every table of the stream, rows in key order, each key once. */
  readonly tables: readonly EncodedRows[];
  /** Digest of `tables`, see `schema/digest.ts`. */
  readonly contentSha256: string;
  /**
   * `awaiting` means that it has no activity. Whether such a day is empty, or settles, depends on the other streams
   * of the day.
   */
  readonly state: 'loaded' | 'awaiting' | 'quarantined';
  readonly rule: SettleRule;
  /** The content comes from a request for this day alone, not from a range. */
  readonly isOwn: boolean;
  /** Active users according to the content, see `export_units.active_users`. */
  readonly activeUsers: number | null;
  /** The sums that identities compare, see `schema/invariants.ts`. @default those of the stored content, if it stays */
  readonly figures?: readonly (number | null)[] | undefined;
  /** The run that commits it. */
  readonly runId: string;
  readonly quarantined: readonly QuarantinedRecord[];
  /**
   * The day on which the newest of the records in quarantine came, if the unit may settle with all of them.
   * @default none: some of them cannot be read
   */
  readonly heldSince?: UtcDay | undefined;
  readonly drift: readonly Drift[];
  readonly requests: number;
  readonly pulledAt: Date;
  /**
   * Digest of the answers, for the next pull to compare.
   * @default null: not known
   */
  readonly answersSha256?: string | null;
  /**
   * Digest of the stored content that this one was judged against. If other content is stored by then, the commit is
   * refused with `ClaimLostError`.
   * @default not checked
   */
  readonly basedOn?: string | null | undefined;
  /**
   * The content is already stored: `tables` is empty, and this many rows stay as they are. If other content is stored
   * by then, the commit is refused with `ClaimLostError`.
   */
  readonly unchanged?: { readonly rows: number };
  /** Digest of other content that the answer had, which is not believed yet: `unchanged` says that what is stored stays. */
  readonly otherSha256?: string | undefined;
  /**
   * Compare every stored row even if the digest is the ledger's. This repairs rows that another program changed.
   * @default false
   */
  readonly rewrite?: boolean;
}

/** The number of rows of a day after its commit. */
export function rowCount({ unchanged, tables }: DayCommit): number {
  return unchanged?.rows ?? tables.reduce((sum, { count }) => sum + count, 0);
}

export interface CommitOutcome {
  /** Fact rows inserted, updated or deleted; 0 when the content was the same. */
  readonly rowsWritten: number;
  /** True if published content has changed. */
  readonly restated: boolean;
  /** The new ledger rows of all units that changed: the committed one and others of its day. */
  readonly units: readonly LedgerUnit[];
}

/** States in which the rows of a unit are an answer of the service, even if there are none. */
const STORED_STATES: readonly UnitState[] = ['loaded', 'empty', 'doubted'];

/** The fields of a unit that tell whether it is stored. */
type Standing = Pick<LedgerUnit, 'state' | 'rows' | 'firstLoadedAt' | 'watch'>;

/**
 * True if the warehouse knows the numbers of a unit: its state says so, or a pull failed after an earlier one had stored
 * rows. A unit with records in quarantine is stored if it has rows beside them. A unit that awaits the daily batch is not stored,
 * although it may hold rows of zeros. One that was old when it was first seen awaits nothing but further looks.
 */
export function isStored({ state, rows, firstLoadedAt, watch }: Standing): boolean {
  const isInFirstLooks = state === 'awaiting' && parseNotes(watch).settlesOn !== undefined;
  return STORED_STATES.includes(state) || isInFirstLooks || (rows > 0 && firstLoadedAt !== null);
}

/** True for a unit that is final. A doubted one is open. One that settled by its age alone was never confirmed, so it may still change. */
export function isSettled({
  state,
  settledAt,
  confirmed,
}: Pick<LedgerUnit, 'state' | 'settledAt' | 'confirmed'>): boolean {
  return settledAt !== null && state !== 'doubted' && confirmed !== 'age';
}

/** The condition of {@link isStored} in SQL, over `export_units` under an alias. */
export function storedUnit(alias: string): SQL {
  return sql.raw(storedUnitText(alias));
}
