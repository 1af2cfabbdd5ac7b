import type { Clock } from '../../core/clock.ts';

/** How long a transaction waits for a lost server, over all its repetitions. */
const WAIT_MS = 30_000;
/** The same once the process must stop. */
const WAIT_STOPPED_MS = 1_000;
/** The first and the longest pause. Each is twice the one before. */
const PAUSE_MS = 200;
const PAUSE_MS_MAX = 2_000;
/** The minimum time for connecting. */
const CONNECT_MS_MIN = 1_000;
/** How many times a transaction is repeated because of conflicts with others. */
const CONFLICTS_MAX = 5;

/** Says whether work whose connection was lost may begin again, after a pause. */
export interface Patience {
  mayFollowLoss(): Promise<boolean>;
}

/** Limits the repetitions of one transaction. */
export class Repetition implements Patience {
  readonly #clock: Clock;
  readonly #stoppedAtMs: () => number;
  #sinceMs: number | undefined;
  #pauseMs = PAUSE_MS;
  #conflicts = 0;

  /** @param stoppedAtMs when the process had to stop; infinite until then. */
  constructor(clock: Clock, stoppedAtMs: () => number) {
    this.#clock = clock;
    this.#stoppedAtMs = stoppedAtMs;
  }

  /** Records that the server is lost. The first call starts the time limit of the wait. */
  begin(): void {
    this.#sinceMs ??= this.#clock.monotonicMs();
  }

  /** True if the wait for the server is over. */
  isOver(): boolean {
    return this.#remainingMs() <= 0;
  }

  /** How long connecting may take. */
  remainingMs(): number {
    return Math.max(CONNECT_MS_MIN, this.#remainingMs());
  }

  /** Pauses after a failure that may be temporary. False if the wait for the server is over. */
  async mayFollowLoss(): Promise<boolean> {
    this.begin();
    const remainingMs = this.#remainingMs();
    if (remainingMs <= 0) return false;
    await this.#clock.sleep(Math.min(this.#pauseMs, remainingMs));
    this.#pauseMs = Math.min(this.#pauseMs * 2, PAUSE_MS_MAX);
    return true;
  }

  /** Counts a rollback because of a conflict. False if there were too many. */
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
