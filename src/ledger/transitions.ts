import type { TableRows } from '../../schema/row.ts';
import { ClaimLostError } from '../core/errors.ts';
import { agree, type SettleRule } from '../judge/agreement.ts';
import {
  notesAfterCommit,
  notesAfterDoubt,
  notesAfterReopening,
  notesAfterSettling,
  parseNotes,
} from '../judge/notes.ts';
import {
  type DayCommit,
  type DayKey,
  type DayUnit,
  dayKey,
  type LedgerDay,
  type LedgerReadiness,
  type LedgerUnit,
  pendingUnit,
  type QuarantinedRecord,
  type UnitKey,
} from '../units/index.ts';

/** An answer that is not believed because it would remove stored rows. The stored rows stay. */
export interface UnitDoubt {
  readonly unit: DayKey;
  /** Digest of the content that is not stored. */
  readonly contentSha256: string;
  /** The doubt as JSON text, and its beginning as an ISO instant, see `src/judge/doubt.ts`. */
  readonly doubt: string;
  readonly since: string;
  readonly requests: number;
  readonly pulledAt: Date;
  readonly rule: SettleRule;
}

/** The notes of a settled unit after a comparison, see `src/judge/watch.ts`. */
export interface UnitNotes extends DayUnit {
  /** Digest of the content that was compared. If the unit holds other content by then, the notes are dropped. */
  readonly contentSha256: string | null;
  /** The new value of the column `watch`. */
  readonly watch: string | null;
}

/** A pull that failed. Stored rows stay as they are. */
export interface UnitFailure {
  readonly unit: UnitKey;
  readonly state: 'failed' | 'awaiting';
  readonly error: string;
  readonly requests: number;
  readonly pulledAt: Date;
  readonly rule: SettleRule;
}

/** One page of readiness reports, ready to be stored. */
export interface ReadinessPageCommit {
  readonly orgId: string;
  readonly tables: readonly TableRows[];
  /** The position after it, as JSON text. */
  readonly cursor: string;
  readonly quarantined: readonly QuarantinedRecord[];
  readonly drift: DayCommit['drift'];
  readonly requests: number;
  readonly pulledAt: Date;
  readonly runId: string;
}

/** The end of a readiness walk. */
export interface ReadinessWalkEnd
  extends Pick<ReadinessPageCommit, 'orgId' | 'cursor' | 'runId' | 'requests' | 'pulledAt'> {
  /**
   * Every report that the service has: the others are deleted. Null if the walk did not see all of them; then none is
   * deleted.
   */
  readonly seenReportIds: ReadonlySet<string> | null;
  /** Digests of the records that the walk quarantined; other records leave quarantine. Null if it did not see all reports. */
  readonly seenQuarantine: ReadonlySet<string> | null;
  /** The stored reports that are missing and stay for now. If they are too many to believe it, the unit is doubted. */
  readonly doubt?: (Pick<UnitDoubt, 'doubt' | 'since'> & { readonly isDoubted: boolean }) | undefined;
}

/*
 * Every way in which a row of the ledger changes. Each transition is a pure function from the current row to the new one;
 * the adapters read the row, call the function and write the result.
 *
 *   pending ──commit──▶ awaiting ──settle──▶ empty         a day without activity
 *                └────▶ loaded ──settle──▶ loaded, settled  a day with activity, after three equal looks
 *                └────▶ quarantined                         some records were set aside; such a day does not settle
 *   any ──doubt──▶ doubted ──commit──▶ …                    the answer would remove stored rows
 *   any ──fail──▶ failed                                    a doubted unit stays doubted
 *   settled ──look──▶ settled ──reopen──▶ loaded, awaiting  three equal looks found other content
 *   any ──expire──▶ expired ──commit──▶ …                   users only: a longer limit brings the day back
 *
 *   readiness: pending ──page──▶ pending ──end──▶ loaded, empty, quarantined or doubted; it never settles
 */

/** A commit as the ledger sees it: the number of its rows instead of the rows. */
interface DayEntry extends Omit<DayCommit, 'tables'> {
  readonly rows: number;
}

/** A unit that every run pulls again. */
const OPEN = { settledAt: null, confirmed: null } as const;
/** The fields that a new answer resets: the settlement, a doubt and an error. */
const UNDECIDED = { ...OPEN, doubtedAt: null, doubt: null, lastError: null } as const;

/**
 * A day was committed: any state → loaded, awaiting or quarantined, as the commit says. {@link settleDay} follows.
 * @throws {ClaimLostError} when other content was stored since the commit was judged.
 */
export function applyCommit(before: LedgerDay, commit: DayEntry): LedgerDay {
  const basedOn = commit.unchanged === undefined ? commit.basedOn : commit.contentSha256;
  if (basedOn !== undefined && before.contentSha256 !== basedOn) {
    throw new ClaimLostError(`${commit.stream} ${commit.day}: other content was stored meanwhile`);
  }
  const pulledAt = commit.pulledAt.toISOString();
  const isChanged = before.contentSha256 !== commit.contentSha256;
  // A unit that was opened again had settled before; its own answer says that nothing has changed.
  const { due, heldSince } = parseNotes(before.watch);
  const wasSettled = before.settledAt !== null || (due === true && commit.isOwn);
  const isHeld = commit.state === 'quarantined';
  const staysSettled = wasSettled && !isChanged && !isHeld && heldSince === undefined;
  const watch = notesAfterCommit(before.watch, commit, {
    stored: before.contentSha256,
    isChanged,
    staysSettled,
  });
  return {
    ...before,
    ...UNDECIDED,
    ...(staysSettled ? { settledAt: pulledAt, confirmed: before.confirmed ?? 'data' } : {}),
    ...afterPull(before, commit),
    state: commit.state,
    rows: commit.rows,
    contentSha256: commit.contentSha256,
    firstLoadedAt: before.firstLoadedAt ?? (commit.state === 'awaiting' ? null : pulledAt),
    changedAt: isChanged ? pulledAt : before.changedAt,
    runId: isChanged ? commit.runId : before.runId,
    answersSha256: commit.answersSha256 ?? null,
    activeUsers: commit.activeUsers,
    // An answer with records that were set aside is no look at one without them, even if both have the same rows.
    watch: isHeld ? notesAfterSettling(watch, commit.contentSha256) : watch,
  };
}

/**
 * Plans a commit: the ledger's row after it, whether it writes fact rows, and whether they restate published content.
 */
export function planCommit<Commit extends DayEntry>(before: LedgerDay, commit: Commit) {
  const after = applyCommit(before, commit);
  const writesRows = before.contentSha256 !== commit.contentSha256 || commit.rewrite === true;
  return { commit, before, after, writesRows, restated: isRestatement(before, commit) };
}

/**
 * True if a commit changes published content. A first load and a late batch restate nothing. Neither does the day's
 * own answer if it replaces a range that the same run loaded first.
 */
function isRestatement(before: LedgerDay, commit: DayEntry): boolean {
  if (before.firstLoadedAt === null || before.contentSha256 === commit.contentSha256) return false;
  const isFirstRun = before.runId === commit.runId && before.changedAt === before.firstLoadedAt;
  const isOfRange = parseNotes(before.watch).own !== before.contentSha256;
  return !(isFirstRun && isOfRange && commit.isOwn);
}

/**
 * A pull failed: any state → failed, or awaiting if the day is not over by the service's clock. A doubted unit stays
 * doubted, because a failure neither ends nor restarts a doubt. The stored content stays, and the unit is open again.
 */
export function applyFailure<Unit extends LedgerUnit>(before: Unit, failure: UnitFailure): Unit {
  return {
    ...before,
    ...afterPull(before, failure),
    state: before.state === 'doubted' ? 'doubted' : failure.state,
    ...OPEN,
    lastError: failure.error,
  };
}

/** An answer is not believed: any state → doubted. The stored content stays, and the unit is open again. */
export function applyDoubt(before: LedgerDay, doubt: UnitDoubt): LedgerDay {
  return {
    ...before,
    ...UNDECIDED,
    ...afterPull(before, doubt),
    state: 'doubted',
    doubt: doubt.doubt,
    doubtedAt: doubt.since,
    watch: notesAfterDoubt(before.watch, { ...doubt, day: before.day }),
  };
}

/**
 * The watch compared a settled unit with the service: the state stays, and `watch` holds the notes. Nothing changes
 * if the unit is open again or holds other content by now.
 */
export function applyLook(before: LedgerDay, { contentSha256, watch }: UnitNotes): LedgerDay {
  const isSame = before.settledAt !== null && before.contentSha256 === contentSha256;
  return isSame ? { ...before, watch } : before;
}

/**
 * The people of a day have expired: any state → expired, and nothing of the content is known any more. It counts as settled: no run pulls it
 * again.
 */
export function applyExpiry(before: LedgerDay, at: string): LedgerDay {
  const { attempts, requests, lastPulledAt } = before;
  const key = dayKey(before.orgId, before);
  return { ...pendingUnit(key), attempts, requests, lastPulledAt, state: 'expired', settledAt: at };
}

/**
 * A settled unit is pulled again: empty → awaiting, any other state stays, and the unit is open again. A unit that was
 * never pulled does not change.
 */
export function applyReopening(before: LedgerDay): LedgerDay {
  if (before.state === 'pending' || before.state === 'expired') return before;
  return {
    ...before,
    state: before.state === 'empty' ? 'awaiting' : before.state,
    ...OPEN,
    watch: notesAfterReopening(before.watch),
  };
}

/** The fields that {@link agree} decides. */
const SETTLEMENT = ['state', 'settledAt', 'confirmed', 'watch', 'firstLoadedAt'] as const;

/**
 * A day settles, or opens again, after some of its units changed: awaiting ⇄ empty, and `settledAt` of loaded units.
 * Each stream of a day may decide about the others, so all five are judged together, see {@link agree}.
 * @param changed units of one day.
 * @param known the five units of that day as the ledger has them.
 * @param committed streams that were committed and may settle by themselves.
 * @returns the units to write: those that changed, and others that settled or opened with them.
 */
export function settleDay(
  changed: readonly LedgerDay[],
  known: readonly LedgerDay[],
  rule: SettleRule,
  committed: ReadonlySet<string>,
): LedgerDay[] {
  const [first] = changed;
  if (first === undefined) return [];
  const own = new Map(changed.map((unit) => [unit.stream, unit]));
  const units = [...own.values(), ...known.filter(({ stream }) => !own.has(stream))];
  const settled = agree({ day: first.day, units, committed }, rule);
  return settled.filter(
    (unit, index) => index < own.size || SETTLEMENT.some((name) => unit[name] !== units[index]?.[name]),
  );
}

/** A day's unit that has changed. */
export interface ChangedDay {
  readonly unit: LedgerDay;
  readonly rule: SettleRule;
  /** It was committed and may settle by itself. */
  readonly isCommitted: boolean;
}

/** Settles every day with a changed unit, see {@link settleDay}. Returns all units to write. */
export function settleDays(changed: readonly ChangedDay[], known: readonly LedgerDay[]): LedgerDay[] {
  return [...Map.groupBy(changed, ({ unit }) => unit.day)].flatMap(([day, own]) => {
    const [first] = own;
    if (first === undefined) return [];
    const committed = new Set(own.flatMap(({ unit, isCommitted }) => (isCommitted ? [unit.stream] : [])));
    const units = own.map(({ unit }) => unit);
    const others = known.filter((unit) => unit.day === day);
    return settleDay(units, others, first.rule, committed);
  });
}

/**
 * A page of readiness reports was stored: the state stays until the walk ends, and the cursor moves on. If rows
 * changed, the digest is unknown until then.
 */
export function applyPage(
  before: LedgerReadiness,
  page: ReadinessPageCommit,
  { rows, rowsWritten }: Pick<WalkedContent, 'rows' | 'rowsWritten'>,
): LedgerReadiness {
  const pulledAt = page.pulledAt.toISOString();
  return {
    ...before,
    ...(rowsWritten > 0 ? { rows, contentSha256: null, changedAt: pulledAt, runId: page.runId } : {}),
    cursor: page.cursor,
    requests: before.requests + page.requests,
    firstLoadedAt: before.firstLoadedAt ?? pulledAt,
    lastPulledAt: pulledAt,
  };
}

/** The content of the readiness tables after a walk. */
interface WalkedContent {
  readonly rowsWritten: number;
  /** Rows of all reports. */
  readonly rows: number;
  readonly contentSha256: string | null;
  /** Records in quarantine. */
  readonly quarantined: number;
}

/** A walk over the readiness reports ended: any state → doubted, quarantined, loaded or empty, the first that applies. */
export function applyWalkEnd(
  before: LedgerReadiness,
  end: ReadinessWalkEnd,
  { rows, rowsWritten, contentSha256, quarantined }: WalkedContent,
): LedgerReadiness {
  const filled = rows > 0 ? 'loaded' : 'empty';
  const isChanged = rowsWritten > 0;
  return {
    ...before,
    ...UNDECIDED,
    ...afterPull(before, end),
    state: end.doubt?.isDoubted === true ? 'doubted' : quarantined > 0 ? 'quarantined' : filled,
    rows,
    contentSha256,
    changedAt: isChanged ? end.pulledAt.toISOString() : before.changedAt,
    runId: isChanged ? end.runId : before.runId,
    cursor: end.cursor,
    doubt: end.doubt?.doubt ?? null,
    doubtedAt: end.doubt?.since ?? null,
  };
}

/** The fields that every finished pull changes, whether it succeeded or failed. */
function afterPull(before: LedgerUnit, pull: { readonly requests: number; readonly pulledAt: Date }) {
  return {
    attempts: before.attempts + 1,
    requests: before.requests + pull.requests,
    lastPulledAt: pull.pulledAt.toISOString(),
  };
}
