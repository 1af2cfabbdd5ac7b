import type { Clock } from '../../core/clock.ts';

/** How long a server that went away is waited for, all repetitions of one transaction together. */
const WAIT_MS = 30_000;
/** The same once the process was asked to stop. */
const WAIT_STOPPED_MS = 1_000;
/** The first pause, and the longest: each is twice the one before. */
const PAUSE_MS = 200;
const PAUSE_MS_MAX = 2_000;
/** The shortest time that a connection is given to be made. */
const CONNECT_MS_MIN = 1_000;
/** How often a transaction is begun again for the sake of another one. */
const CONFLICTS_MAX = 5;

/** How often and how long one transaction is repeated. */
export class Repetition {
  readonly #clock: Clock;
  readonly #stoppedAtMs: () => number;
  #sinceMs: number | undefined;
  #pauseMs = PAUSE_MS;
  #conflicts = 0;

  /** @param stoppedAtMs when the process was asked to stop; infinite until then. */
  constructor(clock: Clock, stoppedAtMs: () => number) {
    this.#clock = clock;
    this.#stoppedAtMs = stoppedAtMs;
  }

  /** The server went away: from the first time on, time is counted. */
  begin(): void {
    this.#sinceMs ??= this.#clock.monotonicMs();
  }

  /** True when the server was waited for long enough. */
  isOver(): boolean {
    return this.#remainingMs() <= 0;
  }

  /** How long a new connection may take to be made. */
  remainingMs(): number {
    return Math.max(CONNECT_MS_MIN, this.#remainingMs());
  }

  /** Pauses after a failure that may pass; false when the server was waited for long enough. */
  async mayFollowLoss(): Promise<boolean> {
    this.begin();
    const remainingMs = this.#remainingMs();
    if (remainingMs <= 0) return false;
    await this.#clock.sleep(Math.min(this.#pauseMs, remainingMs));
    this.#pauseMs = Math.min(this.#pauseMs * 2, PAUSE_MS_MAX);
    return true;
  }

  /** Counts a rollback for another transaction's sake; false when there were too many. */
  mayFollowConflict(): boolean {
    this.#conflicts += 1;
    return this.#conflicts <= CONFLICTS_MAX;
  }

  #remainingMs(): number {
    const sinceMs = this.#sinceMs ?? this.#clock.monotonicMs();
    const stoppedMs = Math.max(sinceMs, this.#stoppedAtMs());
    const untilMs = Math.min(sinceMs + WAIT_MS, stoppedMs + WAIT_STOPPED_MS);
    return untilMs - this.#clock.monotonicMs();
  }
}
