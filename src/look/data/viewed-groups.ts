import type { Dimension, Grain } from '../../../schema/metrics.ts';
import { mergedGroups, namelessOf, PEOPLE_DIMENSIONS, type PeopleDimension } from '../audience/audience.ts';
import type { NumberFormat } from '../page/numbers.ts';
import { type Group, groupsOf } from './groups.ts';
import type { PageReader } from './reader.ts';
import type { MetricResult } from './result.ts';

/**
 * The groups of an answer as the viewer may see them, see {@link groupsOf}: groups of people that are too small for the
 * viewer are among the others.
 */
export function viewedGroups(
  { viewer }: Pick<PageReader, 'viewer'>,
  result: MetricResult,
  {
    group,
    ...options
  }: {
    group: Dimension;
    bucket?: Grain;
    format: NumberFormat;
    most?: number;
  },
): Group[] {
  if (!isOfPeople(group)) return groupsOf(result, { group, ...options });
  const merged = mergedGroups(viewer, group);
  return groupsOf(result, { group, ...options, merged, nameless: namelessOf(group) });
}

function isOfPeople(dimension: Dimension): dimension is PeopleDimension {
  return PEOPLE_DIMENSIONS.some((name) => name === dimension);
}
