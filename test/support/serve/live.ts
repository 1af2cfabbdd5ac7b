import { keepSchedule, spread } from '../../../src/serve/schedule.ts';
import type { Random } from '../random/seed.ts';
import { type Disturbance, Killed, Machine, type Moment, Over } from './machine.ts';

/** A world in which a service lives. */
export interface ScheduleWorld {
  readonly start: Date;
  readonly lengthMs: number;
  readonly next: (after: Date) => Date;
  readonly jitterMs: number;
  readonly disturbances: readonly Disturbance[];
  /** How long each round takes. */
  readonly roundMs: () => number;
  readonly random: Random;
}

/** A round of the service. */
export interface LivedRound {
  readonly begin: Moment;
  readonly tick: Date | null;
  isComplete: boolean;
}

/** What happened in a world. */
export interface Life {
  readonly machine: Machine;
  readonly rounds: readonly LivedRound[];
  readonly starts: number;
}

/** Lets the service live in a world: it is started again after each kill, with what the warehouse remembers. */
export async function live(world: ScheduleWorld): Promise<Life> {
  const machine = new Machine({ ...world, endMs: world.lengthMs });
  const rounds: LivedRound[] = [];
  let remembered: Date | null = null;
  let isBusy = false;
  for (let starts = 1; ; starts += 1) {
    try {
      await keepSchedule({
        clock: machine,
        signal: new AbortController().signal,
        timetable: { next: world.next, delayMs: spread(world.jitterMs, world.random()) },
        handledUntil: remembered,
        turn: () => undefined,
        perform: async ({ tick }) => {
          if (isBusy) throw new Error('two rounds at once');
          const round: LivedRound = { begin: machine.moment, tick, isComplete: false };
          rounds.push(round);
          isBusy = true;
          machine.spend(world.roundMs(), false);
          isBusy = false;
          round.isComplete = true;
        },
        remember: async (at) => {
          remembered = at;
          return true;
        },
      });
    } catch (error) {
      isBusy = false;
      if (error instanceof Over) return { machine, rounds, starts };
      if (!(error instanceof Killed)) throw error;
      try {
        machine.stayDown(error.downMs);
      } catch (over) {
        if (over instanceof Over) return { machine, rounds, starts };
        throw over;
      }
    }
  }
}
