import type { Clock } from '../../../src/core/clock.ts';

/** What happens to a machine. `atMs` counts real time from the start. */
export type Disturbance =
  /** The wall clock is set, forward or back. */
  | { readonly kind: 'step'; readonly atMs: number; readonly byMs: number }
  /** The machine sleeps: the wall clock goes on, timers do not. */
  | { readonly kind: 'suspend'; readonly atMs: number; readonly forMs: number }
  /** The process dies, and starts again later. */
  | { readonly kind: 'kill'; readonly atMs: number; readonly forMs: number };

/** The process was killed. */
export class Killed extends Error {
  readonly downMs: number;

  constructor(downMs: number) {
    super('killed');
    this.downMs = downMs;
  }
}

/** The simulated time is over. */
export class Over extends Error {}

/** A moment in the life of a machine. */
export interface Moment {
  /** Real time since the start. */
  readonly atMs: number;
  readonly wallMs: number;
  /** For how long the service has been awake and without a round, in total. */
  readonly idleMs: number;
  /** By how much the clock was set back, in total. */
  readonly backMs: number;
}

/** The first moment at which the wall clock showed a tick. A clock that is set back may show ticks from before the start. */
export interface Crossing extends Moment {
  readonly tick: Date;
}

/** A machine whose time passes only while its process sleeps, works or is down. */
export class Machine implements Clock {
  /** Each tick that the wall clock reached, in order. */
  readonly crossings: Crossing[] = [];
  /** What the wall clock showed at the start. */
  readonly startMs: number;
  readonly #endMs: number;
  readonly #next: (after: Date) => Date;
  readonly #disturbances: Disturbance[];
  readonly #shown = new Set<number>();
  #atMs = 0;
  #offsetMs = 0;
  #suspendedMs = 0;
  #idleMs = 0;
  #backMs = 0;
  #coming: Date;

  constructor(options: {
    readonly start: Date;
    readonly endMs: number;
    readonly next: (after: Date) => Date;
    readonly disturbances: readonly Disturbance[];
  }) {
    this.startMs = options.start.getTime();
    this.#endMs = options.endMs;
    this.#next = options.next;
    this.#disturbances = options.disturbances.toSorted((a, b) => a.atMs - b.atMs);
    this.#coming = options.next(options.start);
  }

  now(): Date {
    return new Date(this.moment.wallMs);
  }

  monotonicMs(): number {
    return this.#atMs - this.#suspendedMs;
  }

  get moment(): Moment {
    const wallMs = this.startMs + this.#atMs + this.#offsetMs;
    return { atMs: this.#atMs, wallMs, idleMs: this.#idleMs, backMs: this.#backMs };
  }

  async sleep(ms: number): Promise<void> {
    this.spend(ms, true);
  }

  /** Lets time pass in which the process is awake, with all that happens in it. */
  spend(ms: number, isIdle: boolean): void {
    let leftMs = ms;
    for (;;) {
      const next = this.#disturbances[0];
      const untilMs = next === undefined ? Number.POSITIVE_INFINITY : Math.max(0, next.atMs - this.#atMs);
      if (next === undefined || untilMs > leftMs) break;
      this.#flow(untilMs, isIdle);
      leftMs -= untilMs;
      this.#disturbances.shift();
      this.#disturb(next);
    }
    this.#flow(leftMs, isIdle);
  }

  /** Lets time pass in which there is no process. Only the clock may change. */
  stayDown(ms: number): void {
    const endMs = this.#atMs + ms;
    for (;;) {
      const next = this.#disturbances[0];
      if (next === undefined || next.atMs > endMs) break;
      this.#flow(Math.max(0, next.atMs - this.#atMs), false);
      this.#disturbances.shift();
      if (next.kind === 'step') this.#disturb(next);
    }
    this.#flow(endMs - this.#atMs, false);
  }

  #disturb(event: Disturbance): void {
    if (event.kind === 'kill') throw new Killed(event.forMs);
    if (event.kind === 'suspend') {
      this.#flow(event.forMs, false);
      this.#suspendedMs += event.forMs;
      return;
    }
    this.#offsetMs += event.byMs;
    this.#backMs += Math.max(0, -event.byMs);
    if (event.byMs < 0) this.#coming = this.#next(this.now());
    this.#cross(this.moment);
  }

  #flow(ms: number, isIdle: boolean): void {
    const before = this.moment;
    for (;;) {
      const inMs = this.#coming.getTime() - before.wallMs;
      if (inMs > ms) break;
      const passedMs = Math.max(0, inMs);
      this.#cross({
        atMs: before.atMs + passedMs,
        wallMs: before.wallMs + passedMs,
        idleMs: before.idleMs + (isIdle ? passedMs : 0),
        backMs: before.backMs,
      });
    }
    this.#atMs += ms;
    if (isIdle) this.#idleMs += ms;
    if (this.#atMs >= this.#endMs) throw new Over();
  }

  #cross(moment: Moment): void {
    while (this.#coming.getTime() <= moment.wallMs) {
      const tickMs = this.#coming.getTime();
      if (!this.#shown.has(tickMs)) this.crossings.push({ ...moment, tick: this.#coming });
      this.#shown.add(tickMs);
      this.#coming = this.#next(this.#coming);
    }
  }
}
