/** The instants at which rounds are due. */
export interface Timetable {
  /** The first tick after an instant. */
  next(after: Date): Date;
  /** How long after a tick its round begins, so that many installations do not begin at once. The same for the same tick. */
  delayMs(tick: Date): number;
}

/** What the service does next. */
export type Action =
  | { readonly kind: 'wait'; readonly tick: Date; readonly until: Date }
  /** `tick` is the oldest one that the round is for; null for a round that no tick asked for. */
  | { readonly kind: 'run'; readonly tick: Date | null };

/**
 * How far ahead of the clock the mark of the last round may be. A clock that was set back by less repeats no tick; a mark
 * further ahead was made by a clock that was wrong.
 */
export const AHEAD_MS_MAX = 24 * 60 * 60 * 1000;

/**
 * Decides what to do at an instant.
 *
 * One mark says which ticks are handled: all up to the beginning of the last round. So however many ticks passed in a
 * sleep, a stop or a long round, one round is for all of them, and no tick has a second round.
 * @param handledUntil when the last round began; null if there was none
 */
export function nextAction(handledUntil: Date | null, now: Date, timetable: Timetable): Action {
  if (handledUntil === null || handledUntil.getTime() - now.getTime() > AHEAD_MS_MAX) {
    return { kind: 'run', tick: null };
  }
  const tick = timetable.next(handledUntil);
  const until = new Date(tick.getTime() + timetable.delayMs(tick));
  return until <= now ? { kind: 'run', tick } : { kind: 'wait', tick, until };
}
