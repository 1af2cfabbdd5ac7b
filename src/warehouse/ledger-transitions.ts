import { ClaimLostError } from '../core/errors.ts';
import { agree, type SettleRule } from '../judge/agreement.ts';
import { notesText, parseNotes } from '../judge/notes.ts';
import type {
  DayCommit,
  LedgerUnit,
  ReadinessPageCommit,
  ReadinessWalkEnd,
  UnitDoubt,
  UnitFailure,
  UnitNotes,
} from './port.ts';

/** What the ledger is told of a day: the commit without its rows, of which only the number counts. */
export interface DayEntry extends Omit<DayCommit, 'tables'> {
  readonly rows: number;
}

/** What ends with the present pull: a doubt, an error, and why the unit was settled. */
const FRESH = { settledAt: null, confirmed: null, doubtedAt: null, doubt: null, lastError: null } as const;

/**
 * The ledger's row after a day was committed, before it is settled together with the others of its day.
 * @throws {ClaimLostError} when the commit takes other content for stored than what is.
 */
export function afterCommit(before: LedgerUnit, commit: DayEntry): LedgerUnit {
  const basedOn = commit.unchanged === undefined ? commit.basedOn : commit.contentSha256;
  if (basedOn !== undefined && before.contentSha256 !== basedOn) {
    throw new ClaimLostError(`${commit.stream} ${commit.day}: other content was stored meanwhile`);
  }
  const pulledAt = commit.pulledAt.toISOString();
  const changed = before.contentSha256 !== commit.contentSha256;
  return {
    ...before,
    ...FRESH,
    state: commit.state,
    rows: commit.rows,
    contentSha256: commit.contentSha256,
    attempts: before.attempts + 1,
    requests: before.requests + commit.requests,
    firstLoadedAt: before.firstLoadedAt ?? (commit.state === 'awaiting' ? null : pulledAt),
    lastPulledAt: pulledAt,
    changedAt: changed ? pulledAt : before.changedAt,
    runId: changed ? commit.runId : before.runId,
    answersSha256: commit.answersSha256 ?? null,
    activeUsers: commit.activeUsers,
    watch: notesAfterCommit(before.watch, commit, changed),
  };
}

/** What is remembered of a day that was pulled again: what was noted of other content is not. */
function notesAfterCommit(watch: string | null, commit: DayEntry, changed: boolean): string | null {
  const { shortOn, models, reopenedFor, reopenedAt, own } = parseNotes(watch);
  const ownNow = commit.isOwn || own === commit.contentSha256 ? commit.contentSha256 : undefined;
  return notesText({
    ...(shortOn === undefined ? {} : { shortOn }),
    ...(models === undefined ? {} : { models }),
    ...(reopenedFor === undefined || changed ? {} : { reopenedFor }),
    ...(reopenedAt === undefined || changed ? {} : { reopenedAt }),
    ...(ownNow === undefined ? {} : { own: ownNow }),
  });
}

/**
 * True when a commit changes content that was published before; a first load and a late batch restate nothing, and neither
 * does the day's own answer after a range that the same run loaded first.
 */
export function restates(before: LedgerUnit, commit: DayEntry): boolean {
  if (before.firstLoadedAt === null || before.contentSha256 === commit.contentSha256) return false;
  const isFirstRun = before.runId === commit.runId && before.changedAt === before.firstLoadedAt;
  const isOfRange = parseNotes(before.watch).own !== before.contentSha256;
  return !(isFirstRun && isOfRange && commit.isOwn);
}

/**
 * The ledger's row after a pull failed: the stored content stays, and the unit is pulled again. A failure neither ends nor
 * restarts a doubt.
 */
export function afterFailure(before: LedgerUnit, failure: UnitFailure): LedgerUnit {
  return {
    ...before,
    state: before.state === 'doubted' ? 'doubted' : failure.state,
    attempts: before.attempts + 1,
    requests: before.requests + failure.requests,
    lastPulledAt: failure.pulledAt.toISOString(),
    settledAt: null,
    confirmed: null,
    lastError: failure.error,
  };
}

/** The ledger's row after an answer was doubted: the stored content stays, and the unit is pulled again. */
export function afterDoubt(before: LedgerUnit, doubt: UnitDoubt): LedgerUnit {
  const { noted: _noted, due: _due, ...notes } = parseNotes(before.watch);
  return {
    ...before,
    ...FRESH,
    state: 'doubted',
    attempts: before.attempts + 1,
    requests: before.requests + doubt.requests,
    lastPulledAt: doubt.pulledAt.toISOString(),
    doubt: doubt.doubt,
    doubtedAt: doubt.since,
    watch: notesText(notes),
  };
}

/** The ledger's row after a look at a settled unit; as it was where other content is stored meanwhile. */
export function afterLook(before: LedgerUnit, { contentSha256, watch }: UnitNotes): LedgerUnit {
  const isSame = before.settledAt !== null && before.contentSha256 === contentSha256;
  return isSame ? { ...before, watch } : before;
}

/** The ledger's row of a unit that is pulled again although it has settled. */
export function afterReopening(before: LedgerUnit): LedgerUnit {
  if (before.state === 'pending') return before;
  const { noted, ...notes } = parseNotes(before.watch);
  const reopenedFor = noted === undefined ? {} : { reopenedFor: noted.sha256, reopenedAt: noted.at };
  return {
    ...before,
    state: before.state === 'empty' ? 'awaiting' : before.state,
    settledAt: null,
    confirmed: null,
    watch: notesText({ ...notes, ...reopenedFor, due: true }),
  };
}

/** What the end of a readiness walk found in the tables. */
export interface WalkedContent {
  readonly rows: number;
  readonly contentSha256: string | null;
  readonly rowsWritten: number;
  /** Records that are left in quarantine. */
  readonly quarantined: number;
}

/** The ledger's row of the readiness reports after a walk. */
export function afterWalk(before: LedgerUnit, end: ReadinessWalkEnd, content: WalkedContent): LedgerUnit {
  const pulledAt = end.pulledAt.toISOString();
  const filled = content.rows > 0 ? 'loaded' : 'empty';
  const isChanged = content.rowsWritten > 0;
  return {
    ...before,
    ...FRESH,
    state: end.doubt === undefined ? (content.quarantined > 0 ? 'quarantined' : filled) : 'doubted',
    rows: content.rows,
    contentSha256: content.contentSha256,
    attempts: before.attempts + 1,
    requests: before.requests + end.requests,
    lastPulledAt: pulledAt,
    changedAt: isChanged ? pulledAt : before.changedAt,
    runId: isChanged ? end.runId : before.runId,
    cursor: end.cursor,
    doubt: end.doubt?.doubt ?? null,
    doubtedAt: end.doubt?.since ?? null,
  };
}

/** The ledger's row of the readiness reports after one page of a walk. */
export function afterPage(
  before: LedgerUnit,
  page: ReadinessPageCommit,
  { rows, rowsWritten }: Pick<WalkedContent, 'rows' | 'rowsWritten'>,
): LedgerUnit {
  const pulledAt = page.pulledAt.toISOString();
  return {
    ...before,
    // The digest is known again when the walk has ended.
    ...(rowsWritten > 0 ? { rows, contentSha256: null, changedAt: pulledAt, runId: page.runId } : {}),
    cursor: page.cursor,
    requests: before.requests + page.requests,
    firstLoadedAt: before.firstLoadedAt ?? pulledAt,
    lastPulledAt: pulledAt,
  };
}

/**
 * Settles the day of units that have changed together with its other units, as {@link agree} decides.
 * @param known the five units of the day as the ledger has them; pending ones are none.
 * @returns the units whose row is to be written: those that have changed, and others that agreement changes.
 */
export function settledWith(
  changed: readonly LedgerUnit[],
  known: readonly LedgerUnit[],
  rule: SettleRule,
  committed: ReadonlySet<string>,
): LedgerUnit[] {
  const [first] = changed;
  if (first === undefined || first.day === '') return [...changed];
  const own = new Map(changed.map((unit) => [unit.stream, unit]));
  const units = [...own.values(), ...known.filter(({ stream }) => !own.has(stream))];
  const settled = agree({ day: first.day, units, committed }, rule);
  return settled.filter((unit, index) => index < own.size || !isSameUnit(unit, units[index]));
}

function isSameUnit(a: LedgerUnit, b: LedgerUnit | undefined): boolean {
  return (
    a.state === b?.state &&
    a.settledAt === b.settledAt &&
    a.confirmed === b.confirmed &&
    a.watch === b.watch &&
    a.firstLoadedAt === b.firstLoadedAt
  );
}
