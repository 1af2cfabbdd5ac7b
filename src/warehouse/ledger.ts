import { ClaimLostError } from '../core/errors.ts';
import type { DayCommit, LedgerUnit, UnitFailure, UnitKey } from './port.ts';

/** A unit that was never pulled. */
export function pendingUnit(key: UnitKey): LedgerUnit {
  return {
    orgId: key.orgId,
    stream: key.stream,
    day: key.day,
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
}

/** What the ledger is told of a day: the commit without its rows, of which only the number counts. */
export interface DayEntry extends Omit<DayCommit, 'tables'> {
  readonly rows: number;
}

/**
 * The ledger's row after a day was committed.
 * @throws {ClaimLostError} when the commit takes other content for stored than what is.
 */
export function afterCommit(before: LedgerUnit, commit: DayEntry): LedgerUnit {
  if (commit.unchanged !== undefined && before.contentSha256 !== commit.contentSha256) {
    throw new ClaimLostError(`${commit.stream} ${commit.day}: other content was stored meanwhile`);
  }
  const pulledAt = commit.pulledAt.toISOString();
  const changed = before.contentSha256 !== commit.contentSha256;
  return {
    ...before,
    state: commit.state,
    rows: commit.rows,
    contentSha256: commit.contentSha256,
    attempts: before.attempts + 1,
    requests: before.requests + commit.requests,
    firstLoadedAt: before.firstLoadedAt ?? (commit.state === 'awaiting' ? null : pulledAt),
    lastPulledAt: pulledAt,
    changedAt: changed ? pulledAt : before.changedAt,
    settledAt: commit.settled ? pulledAt : null,
    cursor: commit.cursor ?? null,
    lastError: null,
  };
}

/** True when a commit changes content that was published before; a first load and a late batch restate nothing. */
export function restates(before: LedgerUnit, commit: DayEntry): boolean {
  return before.firstLoadedAt !== null && before.contentSha256 !== commit.contentSha256;
}

/** The ledger's row after a pull failed: the stored content stays, and the unit is pulled again. */
export function afterFailure(before: LedgerUnit, failure: UnitFailure): LedgerUnit {
  return {
    ...before,
    state: failure.state,
    attempts: before.attempts + 1,
    requests: before.requests + failure.requests,
    lastPulledAt: failure.pulledAt.toISOString(),
    settledAt: null,
    lastError: failure.error,
  };
}
