import { UsageError } from '../../core/errors.ts';
import type { Period } from '../../metrics/period.ts';
import type { PageReader } from '../data/reader.ts';
import type { Limits, PeopleDimension } from './audience.ts';
import { decideShown, mergePeople } from './decide.ts';
import { readPeople } from './read-people.ts';
import { isCoarseEnough, stretchesOf } from './stretches.ts';

/** What the pages of a report ask while nothing is merged yet. */
export interface Asked {
  readonly spans: readonly Period[];
  readonly dimensions: ReadonlySet<PeopleDimension>;
}

/**
 * Decides what readers other than managers may see, so that no number of a report, and no sum or difference of its numbers
 * about one dimension, is about fewer than `minGroup` people.
 * @param reader a reader of the whole organization; nothing that it reads is shown.
 * @param ask builds the pages within given limits, and returns what they ask.
 * @throws {UsageError} if the organization itself is too small in the period.
 */
export async function decideLimits(
  reader: PageReader,
  minGroup: number,
  ask: (limits: Limits) => Promise<Asked>,
): Promise<{ readonly limits: Limits; readonly spans: readonly Period[] }> {
  for (const weeks of [true, false]) {
    const { spans, dimensions } = await ask({ weeks, shown: null });
    const stretches = stretchesOf(spans);
    const teams = await readPeople(reader, 'team', stretches);
    const everybody = mergePeople([...teams.values()]);
    const sizes = stretches.map((_, index) => everybody[index]?.size ?? 0);
    if (isCoarseEnough(spans, sizes, minGroup)) {
      const shown = new Map<PeopleDimension, ReadonlySet<string>>();
      for (const dimension of new Set<PeopleDimension>(['team', ...dimensions])) {
        const groups = dimension === 'team' ? teams : await readPeople(reader, dimension, stretches);
        shown.set(dimension, decideShown(groups, spans, minGroup));
      }
      return { limits: { weeks, shown }, spans };
    }
  }
  const { from, until } = reader.filters;
  throw new UsageError(
    `from ${from} to ${until}, or in a part of it, fewer than ${minGroup} people were active, so nothing can be shown`,
    { hint: 'choose a longer period' },
  );
}
