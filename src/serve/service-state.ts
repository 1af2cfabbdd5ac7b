import { isDecided, type RoundReport } from '../../jobs/round.ts';
import type { Clock } from '../core/clock.ts';
import type { Advice } from '../core/errors.ts';
import { adviceOf, messageOf } from '../core/errors.ts';
import type { ExitCode } from '../core/exit-code.ts';
import type { WarehouseMemory } from '../places/index.ts';

/** Where the service is in its life. */
type Phase = 'starting' | 'waiting' | 'running' | 'stopping';

/** How long the schedule may stand still while it waits: several of its longest sleeps. */
const WAITING_MS_MAX = 5 * 60 * 1000;
/** How long a round may be silent. It may wait 24 hours for the run of another program. */
const RUNNING_MS_MAX = 25 * 60 * 60 * 1000;

/** What the service knows of itself. */
export interface ServiceState {
  readonly phase: Phase;
  /** When the next round begins; null while one is in progress. */
  readonly nextRoundAt: Date | null;
  /** Rounds since the start of the process: all, and those that a defect ended. */
  readonly rounds: number;
  readonly roundsBroken: number;
  /** The last round that succeeded or failed; null before it. */
  readonly lastRound: RoundReport | null;
  /** The warehouse that the rounds expect. */
  readonly memory: WarehouseMemory;
  /** False if nothing has moved for so long that only a restart helps. */
  isAlive(): boolean;
}

/** The state of the service, which its parts advance. */
export interface ServiceRecord extends ServiceState {
  waits(nextRoundAt: Date): void;
  runs(): void;
  /** Something happened in the round. */
  moved(): void;
  broke(): void;
  /** A round has ended. One that a signal or another run kept from its work says nothing. */
  ended(report: RoundReport): void;
  stops(): void;
}

/** Creates the state of a service that starts. */
export function createServiceState(clock: Pick<Clock, 'monotonicMs'>): ServiceRecord {
  let movedMs = clock.monotonicMs();
  const enter = (next: Phase, at: Date | null) => {
    movedMs = clock.monotonicMs();
    state.nextRoundAt = at;
    if (state.phase !== 'stopping') state.phase = next;
  };
  const state: { -readonly [Key in keyof ServiceRecord]: ServiceRecord[Key] } = {
    phase: 'starting',
    nextRoundAt: null,
    rounds: 0,
    roundsBroken: 0,
    lastRound: null,
    memory: { id: null },
    isAlive: () =>
      clock.monotonicMs() - movedMs <= (state.phase === 'running' ? RUNNING_MS_MAX : WAITING_MS_MAX),
    waits: (at) => enter('waiting', at),
    runs: () => {
      state.rounds += 1;
      enter('running', null);
    },
    moved: () => {
      movedMs = clock.monotonicMs();
    },
    broke: () => {
      state.roundsBroken += 1;
    },
    ended: (report) => {
      if (isDecided(report)) state.lastRound = report;
    },
    stops: () => {
      state.phase = 'stopping';
    },
  };
  return state;
}

/** An event of the service, besides those of its runs. Instants are ISO texts. */
export type ServeEvent =
  | { readonly type: 'serving'; readonly url: string; readonly schedule: string }
  /** Nothing is due before this instant. */
  | { readonly type: 'schedule-waits'; readonly nextRunAt: string }
  /** A round begins. */
  | {
      readonly type: 'tick';
      /** The oldest tick that it is for; null for the first round. */
      readonly tickAt: string | null;
      readonly lateMs: number;
    }
  | ({
      /** No organization could be exported, for example because the warehouse cannot be opened. */
      readonly type: 'round-failed';
      readonly exitCode: ExitCode;
      readonly error: string;
    } & Advice)
  | { readonly type: 'round-ended'; readonly exitCode: ExitCode; readonly durationMs: number }
  /** Something failed that no run reports. The service goes on. */
  | ({ readonly type: 'serve-failed'; readonly doing: string; readonly error: string } & Advice);

/** A failure that no run reports, as an event. */
export function failureOf(doing: string, error: unknown): ServeEvent {
  return { type: 'serve-failed', doing, error: messageOf(error), ...adviceOf(error) };
}
