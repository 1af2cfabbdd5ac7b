import type { Dimension, Grain } from '../../../schema/metrics.ts';
import {
  type MergedGroups,
  mergedGroups,
  namelessOf,
  PEOPLE_DIMENSIONS,
  type Viewer,
} from '../audience/audience.ts';
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
  return groupsOf(result, { group, ...options, ...viewOf(viewer, group) });
}

/**
 * The groups of a count of people, the largest count of all first, and how many groups the viewer must not see. Groups are
 * never added: someone can be in several.
 */
export function distinctGroups(
  { viewer }: Pick<PageReader, 'viewer'>,
  result: MetricResult,
  options: { group: Dimension; bucket: Grain; format: NumberFormat },
): { readonly shown: readonly Group[]; readonly hidden: number } {
  const { merged, nameless } = viewOf(viewer, options.group);
  const all = groupsOf(result, { ...options, nameless, most: Number.POSITIVE_INFINITY });
  const largest = ({ numbers }: Group) => Math.max(...[...numbers.values()].map(({ value }) => value ?? 0));
  const shown = all
    .filter(({ name }) => merged?.has(name) !== true)
    .toSorted((a, b) => largest(b) - largest(a) || (a.name < b.name ? -1 : 1));
  return { shown, hidden: all.length - shown.length };
}

/** The groups of people that the viewer must not see alone, and the name of people without a group. */
function viewOf(viewer: Viewer, group: Dimension): { merged?: MergedGroups; nameless?: string } {
  const dimension = PEOPLE_DIMENSIONS.find((name) => name === group);
  return dimension === undefined
    ? {}
    : { merged: mergedGroups(viewer, dimension), nameless: namelessOf(dimension) };
}
