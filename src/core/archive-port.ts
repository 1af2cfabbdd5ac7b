import type { UtcDay } from './day.ts';
import type { DailyStream } from './stream.ts';

/** One day of one stream of an organization. */
export interface ArchivedUnit {
  readonly orgId: string;
  readonly stream: DailyStream;
  readonly day: UtcDay;
}

/** Rows of an answer as they were received, after the email policy. */
export interface RowsText {
  /** One row, or several with commas between them: what stands in the list of an answer. */
  readonly text: string;
  readonly count: number;
}

/** A text to keep: its SHA-256, and its compressed bytes. */
export interface KeptObject {
  readonly sha256: string;
  readonly bytes: Buffer;
}

/** Rows to keep: their text, and how many there are. They are durable with the answer that names them. */
export interface KeptRows {
  /** Null if there are none. */
  readonly object: KeptObject | null;
  readonly count: number;
}

/** What a run knows of an answer about one day before it commits it. */
export interface ArchivedDay extends ArchivedUnit {
  readonly runId: string;
  readonly pulledAt: Date;
  /** What the judge decided. A doubted answer is never replayed. */
  readonly verdict: 'believed' | 'doubted';
  /** The rows; null if they are those of the newest committed answer with the same content. */
  readonly rows: KeptRows | null;
  readonly contentSha256: string;
  /** The answer was to a request for this day alone. */
  readonly isOwn: boolean;
  readonly requests: number;
  /** The UTC day of the pull, and the age at which days settled then. */
  readonly today: UtcDay;
  readonly settleDays: number;
}

/** A page of readiness reports before it is committed. */
export interface ArchivedPage {
  readonly orgId: string;
  readonly runId: string;
  readonly pulledAt: Date;
  /** The position of the walk after it, as the ledger stores it. */
  readonly cursor: string;
  /** Its reports as they were received, after the email policy; the ID is null where a report has none. */
  readonly reports: readonly { readonly id: string | null; readonly text: string }[];
}

/** The end of a readiness walk before it is committed. */
export interface ArchivedWalkEnd {
  readonly orgId: string;
  readonly runId: string;
  readonly pulledAt: Date;
  readonly cursor: string;
  /** IDs of the reports that the service has, and digests of records in quarantine; null if the others stay as well. */
  readonly seen: { readonly reports: ReadonlySet<string>; readonly quarantine: ReadonlySet<string> } | null;
}

/**
 * Keeps the answers of the service as they came. Answers that were begun are durable when the call returns, with their rows, so
 * that no commit relies on an answer that a power loss takes away. All calls may throw `StorageError` (exit code 6), and
 * `BusyError` (75) once the archive was swept for the organization since it was opened.
 */
export interface Archive {
  /** True if the newest committed answer about the day has this content, so that its rows need not be kept again. */
  holds(unit: ArchivedUnit, contentSha256: string): boolean;
  /** Compresses the rows of one day. The same texts are kept once. Several calls may be under way. */
  keepRows(rows: readonly RowsText[]): Promise<KeptRows>;
  /** Notes answers that are about to be committed. Returns the names under which {@link end} says what became of them. */
  beginDays(days: readonly ArchivedDay[]): Promise<readonly string[]>;
  beginPage(page: ArchivedPage): Promise<readonly string[]>;
  beginWalkEnd(end: ArchivedWalkEnd): Promise<readonly string[]>;
  /**
   * Notes what became of answers. This need not be durable when the call returns: without it, the next run finds out from the
   * ledger.
   */
  end(names: readonly string[], outcome: 'committed' | 'dropped'): Promise<void>;
}
