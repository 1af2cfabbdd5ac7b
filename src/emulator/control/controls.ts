import type { UtcDay } from '../../core/day.ts';
import type { Rule } from '../faults/rules.ts';
import type { Keys } from '../http/auth.ts';
import type { Quirks } from '../quirks/quirks.ts';
import type { RevisionOutcome, RevisionRequest } from '../world/revision-request.ts';
import type { EmulatedSession } from '../world/sessions.ts';
import type { JournalSnapshot } from './journal.ts';

/** A repository, as the readiness list filters by it and shows it. */
export interface EmulatedRepository {
  readonly repoId: string;
  readonly repoUrl: string;
}

/** What can be read and changed while the emulator runs: by these methods and by requests below `/__admin`. */
export interface Controls {
  readonly keys: Keys;
  journal(): JournalSnapshot;
  /** Starts the counts from 0. The counters that decide when rules fire continue. */
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
  /** Restores the default quirks, also those that the emulator was started with. */
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
