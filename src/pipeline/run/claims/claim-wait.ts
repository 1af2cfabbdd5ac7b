import type { Clock } from '../../../core/clock.ts';
import type { UnitKey } from '../../../warehouse/port.ts';
import { minutesOf, namesOf } from './unit-names.ts';

/** How long units that another worker holds are waited for while nothing is seen of the work on them. */
export const CLAIM_WAIT_MS = 10 * 60 * 1000;
/** A shorter wait needs no word: workers that share a plan wait for each other's last units. */
const SILENT_MS = 5_000;

/** What a wait needs. */
export interface ClaimWaitOptions {
  readonly clock: Clock;
  /** How often the units are looked at again. */
  readonly pauseMs: number;
  /** Told once what is waited for. */
  readonly tell: (message: string, hint: string) => void;
  /** What can be seen of the work that is waited for: where it has changed in the end, the wait begins again. */
  readonly progress?: () => Promise<string>;
}

/** Waits for units that another worker holds, {@link CLAIM_WAIT_MS} at most without progress, and says so. */
export class ClaimWait {
  readonly #options: ClaimWaitOptions;
  #sinceMs = 0;
  #progress: string | undefined;
  #isTold = false;

  constructor(options: ClaimWaitOptions) {
    this.#options = options;
  }

  /** A wait begins. */
  async begin(): Promise<void> {
    this.#sinceMs = this.#options.clock.monotonicMs();
    this.#progress = await this.#options.progress?.();
  }

  /** Pauses before the units are looked at again. False once they were waited for long enough. */
  async pause(units: readonly UnitKey[], signal: AbortSignal): Promise<boolean> {
    const { clock, pauseMs, tell } = this.#options;
    const waitedMs = clock.monotonicMs() - this.#sinceMs;
    if (waitedMs >= CLAIM_WAIT_MS && !(await this.#hasGotOn())) return false;
    if (waitedMs >= SILENT_MS && !this.#isTold) {
      this.#isTold = true;
      tell(
        `waiting for another worker that holds ${namesOf(units)}`,
        `they are left out after ${minutesOf(CLAIM_WAIT_MS)} without progress`,
      );
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined);
    return true;
  }

  async #hasGotOn(): Promise<boolean> {
    const before = this.#progress;
    await this.begin();
    return this.#progress !== before;
  }
}
