import type { UtcDay } from '../../core/day.ts';
import type { Rule } from '../faults/rules.ts';
import type { Keys } from '../http/auth.ts';
import type { Quirks } from '../quirks/quirks.ts';
import type { RevisionOutcome, RevisionRequest } from '../world/revision-request.ts';
import type { EmulatedSession } from '../world/sessions.ts';
import type { JournalSnapshot } from './journal.ts';

/** A repository: the id that filters the readiness list, and the URL that the list shows. */
export interface EmulatedRepository {
  readonly repoId: string;
  readonly repoUrl: string;
}

/** Reads and changes the emulator while it runs. Requests below `/__admin` do the same. */
export interface Controls {
  readonly keys: Keys;
  journal(): JournalSnapshot;
  /** Sets the counts to 0. The counters of the rules, which decide when they fire, are kept. */
  resetJournal(): void;
  rules(): readonly Rule[];
  /**
   * Replaces the fault rules; their counters start from 0.
   * @throws {UsageError} for an invalid rule.
   */
  setRules(rules: readonly Rule[]): void;
  today(): UtcDay;
  /**
   * Moves the emulated day.
   * @throws {UsageError} when it is not after the first day with data.
   */
  setToday(day: UtcDay): void;
  quirks(): Quirks;
  /**
   * Changes the given quirks and leaves the others.
   * @throws {UsageError} for an unknown quirk or value.
   */
  setQuirks(changes: Partial<Quirks>): void;
  /** Restores all defaults, even of quirks that were set at the start. */
  resetQuirks(): void;
  /**
   * Sets the delay before each response in milliseconds, 0 to 600,000.
   * @throws {UsageError} when it is out of range.
   */
  setLatency(ms: number): void;
  /**
   * Changes data that was already served.
   * @throws {UsageError} when the request names something that does not exist.
   */
  revise(request: RevisionRequest): RevisionOutcome;
  repositories(): readonly EmulatedRepository[];
  /** The created sessions in their current state, the oldest first. */
  sessions(): readonly EmulatedSession[];
}
