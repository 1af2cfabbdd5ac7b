import type { Clock } from '../../core/clock.ts';
import { type Action, nextAction, type Timetable } from './next-action.ts';

/** The longest sleep. A machine that was suspended notices after its wake-up within this time. */
export const SLICE_MS = 30_000;

/** How to keep a schedule. */
export interface KeptSchedule {
  readonly clock: Clock;
  /** Aborted to end. */
  readonly signal: AbortSignal;
  readonly timetable: Timetable;
  /** When the last round began that came to its end; null if there was none. */
  readonly handledUntil: Date | null;
  /** Is called before each wait and each round. */
  readonly turn: (action: Action) => void;
  /** Performs one round. Must not throw. */
  readonly perform: (action: Action & { readonly kind: 'run' }) => Promise<void>;
  /**
   * Remembers when the last round began, for the next start. False if that was impossible; it is tried again at the next
   * turn.
   */
  readonly remember: (handledUntil: Date) => Promise<boolean>;
}

/** Performs a round for every tick, one round at a time, until the signal. A round that the signal ended is not remembered. */
export async function keepSchedule(kept: KeptSchedule): Promise<void> {
  const { clock, signal, timetable, turn, perform, remember } = kept;
  let { handledUntil } = kept;
  let isRemembered = true;
  while (!signal.aborted) {
    const now = clock.now();
    const action = nextAction(handledUntil, now, timetable);
    turn(action);
    if (action.kind === 'run') {
      await perform(action);
      if (signal.aborted) return;
      handledUntil = now;
      isRemembered = await remember(now);
    } else {
      if (!isRemembered && handledUntil !== null) isRemembered = await remember(handledUntil);
      await pause(clock, Math.min(SLICE_MS, action.until.getTime() - clock.now().getTime()), signal);
    }
  }
}

async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(Math.max(ms, 1), signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
