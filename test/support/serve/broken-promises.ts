import { SLICE_MS } from '../../../src/serve/schedule.ts';
import type { Life, LivedRound } from './live.ts';
import type { Crossing, Machine, Moment } from './machine.ts';

/**
 * Compares a life with what the service promises, by another way than the service's: from the ticks that the clock reached.
 * Returns a sentence for each broken promise. Holds as long as no step back is longer than a day.
 */
export function brokenPromises({ machine, rounds }: Life, jitterMs: number): string[] {
  const complete = rounds.filter(({ isComplete }) => isComplete);
  return [
    ...machine.crossings.flatMap((crossing) => missed(crossing, complete, machine.moment, jitterMs)),
    ...complete.flatMap((round, index) => repeated(round, complete[index - 1])),
    ...complete.flatMap((round, index) => needless(round, complete[index - 1], machine)),
  ];
}

/** Each tick is followed by a round that begins at or after it, as soon as the service is able to. */
function missed(
  crossing: Crossing,
  complete: readonly LivedRound[],
  end: Moment,
  jitterMs: number,
): string[] {
  const tickMs = crossing.tick.getTime();
  // A clock that is set back may show a tick from before the first round.
  if (complete.some(({ begin }) => begin.atMs < crossing.atMs && begin.wallMs >= tickMs)) return [];
  const round = complete.find(({ begin }) => begin.atMs >= crossing.atMs && begin.wallMs >= tickMs);
  const until = round?.begin ?? end;
  const idleMs = until.idleMs - crossing.idleMs;
  // A clock that is set back before the round shows the tick again.
  const maxMs = jitterMs + SLICE_MS + until.backMs - crossing.backMs;
  return idleMs <= maxMs ? [] : [`${crossing.tick.toISOString()}: nothing for ${idleMs / 1_000} s`];
}

/** What one round handled is not handled again. */
function repeated({ tick, begin }: LivedRound, before: LivedRound | undefined): string[] {
  if (before === undefined) return tick === null ? [] : ['the first round has a tick'];
  const isNew = tick !== null && tick.getTime() > before.begin.wallMs;
  return isNew ? [] : [`a round at ${new Date(begin.wallMs).toISOString()} repeats ${tick?.toISOString()}`];
}

/** Between the beginnings of two rounds, the clock reached a tick. */
function needless(
  { begin }: LivedRound,
  before: LivedRound | undefined,
  { crossings, startMs }: Machine,
): string[] {
  // A clock that was set back to before its start shows ticks that are not among the crossings.
  if (before === undefined || before.begin.wallMs < startMs) return [];
  const isAsked = crossings.some(
    ({ atMs, tick }) => atMs <= begin.atMs && tick.getTime() > before.begin.wallMs,
  );
  return isAsked ? [] : [`no tick asked for a round at ${new Date(begin.wallMs).toISOString()}`];
}
