import { drawWorld, type World } from './events.ts';
import { live } from './life.ts';
import type { Fault } from './oracle.ts';
import { dateOf } from './truth.ts';

/** A world with as few events as still break a promise. */
export interface Smallest {
  /** The numbers of the events that are left. */
  readonly only: readonly number[];
  readonly fault: Fault;
}

/**
 * Leaves out events, the later ones first, as long as the same promise breaks. An event is left out or stays as it was: the
 * others do not depend on it.
 * @returns null if the world holds all promises now, so that chance decided.
 */
export async function shrink(seed: number, start?: readonly number[]): Promise<Smallest | null> {
  const all = start ?? drawWorld(seed).events.map((_, index) => index);
  const first = (await live(drawWorld(seed, all))).fault;
  if (first === null) return null;
  let smallest: Smallest = { only: all, fault: first };
  for (const index of all.toReversed()) {
    const only = smallest.only.filter((kept) => kept !== index);
    const { fault } = await live(drawWorld(seed, only));
    if (fault?.invariant === first.invariant) smallest = { only, fault };
  }
  return smallest;
}

/** The events of a world, one a line. */
export function describeWorld({ seed, events, lastNight }: World): string {
  const lines = events.map(({ kind, from, until, firstDay, lastDay, streams, salt }) => {
    const nights = from === until ? `night ${from}` : `nights ${from} to ${until}`;
    return `  ${kind}: ${nights}, days ${firstDay} to ${lastDay} of ${streams.join(', ')}, salt ${salt}`;
  });
  return [`world ${seed}, up to night ${lastNight} (${dateOf(lastNight)})`, ...lines].join('\n');
}
