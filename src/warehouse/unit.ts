import type { UtcDay } from '../core/day.ts';
import type { Stream } from '../core/stream.ts';

/** The states of a unit, see the column `export_units.state`. */
export const UNIT_STATES = [
  'pending',
  'awaiting',
  'loaded',
  'empty',
  'doubted',
  'quarantined',
  'failed',
] as const;

/** One of {@link UNIT_STATES}. */
export type UnitState = (typeof UNIT_STATES)[number];

/**
 * Why a unit settled: it has rows with activity; no stream of the day has any; or it is so old that it is no longer
 * asked for, although nothing ever confirmed it.
 */
export const CONFIRMATIONS = ['data', 'agreed', 'age'] as const;

/** One of {@link CONFIRMATIONS}. */
export type Confirmation = (typeof CONFIRMATIONS)[number];

/** Names a unit: `day` is '' for readiness. */
export interface UnitKey {
  readonly orgId: string;
  readonly stream: Stream;
  readonly day: UtcDay | '';
}

/** What the ledger says of a unit. */
export interface LedgerUnit extends UnitKey {
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
  /** Digest of the answers that the content was made of. */
  readonly answersSha256: string | null;
  readonly doubtedAt: string | null;
  /** The present doubt as JSON text, see `src/judge/doubt.ts`. */
  readonly doubt: string | null;
  readonly confirmed: Confirmation | null;
  /** The run that last changed the content. */
  readonly runId: string | null;
  /** Users that the content counts as active; null for streams that count none. */
  readonly activeUsers: number | null;
  /** What the watch found, as JSON text, see `src/judge/notes.ts`. */
  readonly watch: string | null;
}

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
