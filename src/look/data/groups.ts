import type { Dimension, Grain } from '../../../schema/metrics.ts';
import type { MergedGroups } from '../audience/audience.ts';
import { cellOf, type NumberFormat, type ShownNumber, sumOf, wholeSumOf } from '../page/numbers.ts';
import { bucketOpenness } from './buckets.ts';
import type { MetricResult } from './result.ts';

/** What people read where a group has no name. */
export const OTHERS = 'others';

/** A group of an answer, for example a model, with its number in each bucket. */
export interface Group {
  readonly name: string;
  /** True for the groups that were merged. */
  readonly isOthers: boolean;
  /** The names of the groups in it: its own, or those that were merged. */
  readonly members: readonly string[];
  /** The number of each bucket in which the group occurs; the bucket is '' if the answer has none. */
  readonly numbers: ReadonlyMap<string, ShownNumber>;
  /** Sum over all buckets. */
  readonly total: ShownNumber;
}

/**
 * The groups of an answer, largest first, at most `most` and then the others merged. Only for metrics that add up.
 * @param question `group` is the column that names the group, `bucket` that of the time, if any; `nameless` is the name of
 * the group without one; `merged` has the groups that must not be shown alone, see `mergedGroups`.
 */
export function groupsOf(
  result: MetricResult,
  {
    group,
    bucket,
    format,
    most = 4,
    nameless,
    merged = new Set<string>(),
  }: {
    group: Dimension;
    bucket?: Grain;
    format: NumberFormat;
    most?: number;
    nameless?: string | undefined;
    merged?: MergedGroups | undefined;
  },
): Group[] {
  const byName = new Map<string, Map<string, ShownNumber>>();
  for (const [index, row] of result.rows.entries()) {
    // A bucket in which nothing occurs has one row without a group and without a value.
    if (row[group] === null && row.value === null) continue;
    const name = String(row[group] ?? nameless ?? 'none');
    const numbers = byName.get(name) ?? new Map<string, ShownNumber>();
    const key = bucket === undefined ? '' : String(row[bucket]);
    const open = bucket === undefined ? undefined : bucketOpenness(result, bucket, key);
    numbers.set(key, cellOf(result, index, format, { open }));
    byName.set(name, numbers);
  }
  const all = [...byName].map(([name, numbers]) =>
    groupOf(name, numbers, { format, members: [name], isOthers: false }),
  );
  const ranked = all.filter(({ name }) => !merged.has(name)).toSorted(bySize);
  const rest = [...ranked.slice(most), ...all.filter(({ name }) => merged.has(name))];
  if (rest.length === 0) return ranked;
  return [...ranked.slice(0, most), mergeGroups(rest, format)];
}

function bySize(a: Group, b: Group): number {
  return (b.total.value ?? 0) - (a.total.value ?? 0) || (a.name < b.name ? -1 : 1);
}

function groupOf(
  name: string,
  numbers: ReadonlyMap<string, ShownNumber>,
  { format, ...kind }: { format: NumberFormat; isOthers: boolean; members: readonly string[] },
): Group {
  return { name, ...kind, numbers, total: sumOf([...numbers.values()], format) };
}

function mergeGroups(groups: readonly Group[], format: NumberFormat): Group {
  const buckets = new Set(groups.flatMap(({ numbers }) => [...numbers.keys()]));
  const numbers = new Map(
    [...buckets].map((bucket) => [
      bucket,
      wholeSumOf(
        groups.flatMap((group) => group.numbers.get(bucket) ?? []),
        format,
      ),
    ]),
  );
  const members = groups.map(({ name }) => name);
  return groupOf(OTHERS, numbers, { format, members, isOthers: true });
}
