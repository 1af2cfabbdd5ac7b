import type { Clock } from '../../core/clock.ts';
import { type UnitKey, unitName } from '../../units/index.ts';

/** How long a worker waits for units of another one that makes no visible progress. */
export const CLAIM_WAIT_MS = 10 * 60 * 1000;
/** Shorter waits are not reported: workers that share a plan wait for each other's last units. */
const SILENT_MS = 5_000;

interface ClaimWaitOptions {
  readonly clock: Clock;
  /** The pause between two attempts to claim the units. */
  readonly pauseMs: number;
  /** Called once, with the units that the worker waits for. */
  readonly warn: (message: string, hint: string) => void;
  /** The visible progress of the other worker. If it has changed when the wait is over, the wait begins again. */
  readonly progress?: () => Promise<string>;
}

/** Waits for units that another worker holds, for at most {@link CLAIM_WAIT_MS} without progress. */
export class ClaimWait {
  readonly #options: ClaimWaitOptions;
  #sinceMs = 0;
  #progress: string | undefined;
  #hasWarned = false;

  constructor(options: ClaimWaitOptions) {
    this.#options = options;
  }

  /** Begins a wait. */
  async begin(): Promise<void> {
    this.#sinceMs = this.#options.clock.monotonicMs();
    this.#progress = await this.#options.progress?.();
  }

  /** Pauses before the next attempt. False when the wait is over. */
  async pause(units: readonly UnitKey[], signal: AbortSignal): Promise<boolean> {
    const { clock, pauseMs, warn } = this.#options;
    const waitedMs = clock.monotonicMs() - this.#sinceMs;
    if (waitedMs >= CLAIM_WAIT_MS && !(await this.#hasProgressed())) return false;
    if (waitedMs >= SILENT_MS && !this.#hasWarned) {
      this.#hasWarned = true;
      warn(
        `waiting for another worker that holds ${namesOf(units)}`,
        `they are left out after ${minutesOf(CLAIM_WAIT_MS)} without progress`,
      );
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined);
    return true;
  }

  async #hasProgressed(): Promise<boolean> {
    const before = this.#progress;
    await this.begin();
    return this.#progress !== before;
  }
}

/** Maximum number of units that a message lists by name. */
const NAMES_MAX = 3;

/** Lists units for a message: a few by name, the others as a number. */
export function namesOf(units: readonly UnitKey[]): string {
  const names = units.slice(0, NAMES_MAX).map(unitName);
  const others = units.length - names.length;
  return `${names.join(', ')}${others > 0 ? ` and ${others} more units` : ''}`;
}

/** For example `10 minutes`. */
export function minutesOf(ms: number): string {
  return `${ms / 60_000} minutes`;
}
