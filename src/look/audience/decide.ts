import type { Period } from '../../metrics/period.ts';
import { isCoarseEnough } from './stretches.ts';

/** The people of a group in each stretch, in the order of the stretches. */
export type PeopleByStretch = readonly ReadonlySet<string>[];

/**
 * Decides which groups may be shown alone when all others are merged into one: each group that is shown, and the merged
 * one, is about `min` people at least in every sum and difference of the published spans. The largest groups stay. None is
 * shown if that is impossible.
 */
export function decideShown(
  groups: ReadonlyMap<string, PeopleByStretch>,
  spans: readonly Period[],
  min: number,
): ReadonlySet<string> {
  const passes = (people: PeopleByStretch) =>
    isCoarseEnough(
      spans,
      people.map(({ size }) => size),
      min,
    );
  const bySize = [...groups].toSorted(
    ([one, a], [other, b]) => union([a]) - union([b]) || (one < other ? -1 : 1),
  );
  const shown = bySize.filter(([, people]) => passes(people));
  const merged = bySize.filter(([, people]) => !passes(people)).map(([, people]) => people);
  while (merged.length > 0 && !passes(mergePeople(merged))) {
    const smallest = shown.shift();
    if (smallest === undefined) break;
    merged.push(smallest[1]);
  }
  return new Set(shown.map(([name]) => name));
}

/** The people of several groups together; who was in more than one counts once. */
export function mergePeople(groups: readonly PeopleByStretch[]): PeopleByStretch {
  const length = Math.max(0, ...groups.map((people) => people.length));
  return Array.from(
    { length },
    (_, index) => new Set(groups.flatMap((people) => [...(people[index] ?? [])])),
  );
}

function union(groups: readonly PeopleByStretch[]): number {
  return new Set(groups.flat().flatMap((people) => [...people])).size;
}
