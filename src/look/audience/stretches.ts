import { shiftDay, type UtcDay } from '../../core/day.ts';
import type { Period } from '../../metrics/period.ts';

/**
 * A stretch of days between two neighbours among the days on which a published span begins, or after which one ends. The
 * stretches are the finest parts that readers could compute by adding and subtracting spans.
 */
export type Stretch = Period;

/** The stretches of published spans, in order. */
export function stretchesOf(spans: readonly Period[]): Stretch[] {
  const points = [...new Set(spans.flatMap(({ from, until }) => [from, dayAfter(until)]))].toSorted();
  return points.slice(1).flatMap((next, index) => {
    const from = points[index];
    return from === undefined ? [] : { from, until: shiftDay(next, -1) };
  });
}

/**
 * True if no sum and no difference of the published spans is about fewer than `min` people, unless it is about nobody.
 *
 * A published span is the change of the running total between two days. Readers know the change between two days if a
 * chain of spans leads from one to the other. So the days form islands, and each stretch is a bridge between islands or
 * stays on one. Whatever readers can compute runs around a circle of such stretches. It is about few people only if each
 * stretch of the circle is, so it is enough that the stretches with few people form no circle.
 * @param peopleIn the number of distinct people in each stretch, in the order of {@link stretchesOf}.
 */
export function isCoarseEnough(spans: readonly Period[], peopleIn: readonly number[], min: number): boolean {
  const islands = new Islands();
  for (const { from, until } of spans) islands.join(from, dayAfter(until));
  const stretches = stretchesOf(spans).map(({ from, until }, index) => ({
    ends: [from, dayAfter(until)] as const,
    people: peopleIn[index] ?? 0,
  }));
  // Where nobody was active, the running total is known not to change.
  for (const { ends, people } of stretches) if (people === 0) islands.join(...ends);
  return stretches
    .filter(({ people }) => people > 0 && people < min)
    .every(({ ends }) => islands.join(...ends));
}

/** Which days are known to be on one island. */
class Islands {
  readonly #parents = new Map<UtcDay, UtcDay>();

  /** Joins the islands of two days. False if they were one island already. */
  join(one: UtcDay, other: UtcDay): boolean {
    const [first, second] = [this.#of(one), this.#of(other)];
    this.#parents.set(first, second);
    return first !== second;
  }

  #of(day: UtcDay): UtcDay {
    const parent = this.#parents.get(day) ?? day;
    return parent === day ? day : this.#of(parent);
  }
}

function dayAfter(day: UtcDay): UtcDay {
  return shiftDay(day, 1);
}
