import type { UtcDay } from '../core/day.ts';
import { equalLooks, LOOKS, looksNeeded } from '../judge/looks.ts';
import { isUnstableUnit, parseNotes } from '../judge/notes.ts';
import { isDayUnit, type LedgerDay, type LedgerUnit } from '../warehouse/port.ts';

/**
 * What units wait for, worst first. The answers of `unstable` units go back and forth; what is stored of settled ones stays.
 * Settled units `seen-otherwise` keep what is stored until enough looks have found the same. Units in their `first-looks`
 * were old when a run first saw them.
 */
export const WAITING_STATES = ['unstable', 'seen-otherwise', 'first-looks'] as const;

/** One of {@link WAITING_STATES}. */
export type WaitingState = (typeof WAITING_STATES)[number];

/** The units that wait for the same. */
export interface Waiting {
  readonly state: WaitingState;
  readonly units: number;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  /** The day of the earliest look. */
  readonly since: UtcDay;
  /** The fewest equal looks at any of them so far, and how many it needs. */
  readonly looks: number;
  readonly needed: number;
  /** Of first looks: the day on which the last unit settles at the earliest; else null. */
  readonly settlesOn: UtcDay | null;
}

/** Lists the units that wait for further looks, by state. */
export function waitingOf(units: readonly LedgerUnit[]): Waiting[] {
  const waiting = Map.groupBy(units.filter(isDayUnit).flatMap(waitingUnit), ({ state }) => state);
  return WAITING_STATES.flatMap((state): Waiting[] => {
    const own = waiting.get(state) ?? [];
    const days = own.map(({ day }) => day).toSorted();
    const settling = own.flatMap(({ settlesOn }) => settlesOn ?? []).toSorted();
    const [firstDay] = days;
    const lastDay = days.at(-1);
    const [since] = own.map((unit) => unit.since).toSorted();
    const [fewest] = own.toSorted((a, b) => a.looks - b.looks);
    if (firstDay === undefined || lastDay === undefined || since === undefined || fewest === undefined) return [];
    const { looks, needed } = fewest;
    return [
      { state, units: own.length, firstDay, lastDay, since, looks, needed, settlesOn: settling.at(-1) ?? null },
    ];
  });
}

interface WaitingUnit extends Pick<Waiting, 'state' | 'since' | 'looks' | 'needed' | 'settlesOn'> {
  readonly day: UtcDay;
}

function waitingUnit(unit: LedgerDay): WaitingUnit[] {
  const { day, settledAt, contentSha256, watch } = unit;
  const notes = parseNotes(watch);
  const [first] = notes.looks ?? [];
  const newest = notes.looks?.at(-1);
  if (first === undefined || newest === undefined) return [];
  const isSettled = settledAt !== null;
  const state = isUnstableUnit(unit) ? 'unstable' : isSettled ? 'seen-otherwise' : 'first-looks';
  if (state === 'first-looks' && notes.settlesOn === undefined) return [];
  const stored = isSettled ? contentSha256 : null;
  const counts = {
    looks: equalLooks(notes, newest[1]),
    needed: Math.max(LOOKS, looksNeeded(notes, stored)),
  };
  return [{ state, day, since: first[0], ...counts, settlesOn: isSettled ? null : (notes.settlesOn ?? null) }];
}
