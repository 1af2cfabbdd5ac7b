import type { Dimension, Grain } from '../../../schema/metrics/dictionary.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import {
  cellOf,
  type MetricResult,
  type NumberFormat,
  type ShownNumber,
  shareOf,
  sumOf,
  wholeSumOf,
} from '../numbers.ts';
import { type Cell, emptinessOf, emptyFigure, type Figure, type FigureName, type Table } from '../page.ts';
import { type PageReader, scopeOf, tryAsk } from '../reader.ts';
import { bucketOpenness, whyNoValue } from '../time-spans.ts';
import { asSentence, periodWords } from '../words.ts';

const MOST = 12;

/** A metric that adds up, cut by one dimension. */
export interface Ranking extends FigureName {
  readonly metric: string;
  readonly by: Dimension;
  /** The heading of the first column: `Tool`. */
  readonly thing: string;
  /** The heading of the column of numbers. */
  readonly amount: string;
  readonly format: NumberFormat;
  /** @default 12 */
  readonly most?: number;
  /** The cell that names a group; by default its name as text. */
  readonly nameCell?: (group: Group) => Cell;
}

/** The largest groups of the period with a bar and their share, and the others together. */
export async function ranking(reader: PageReader, spec: Ranking): Promise<Figure> {
  const { metric, title, by, format, most = MOST } = spec;
  const { words, ...scope } = scopeOf(reader.filters, metric);
  const asked = await tryAsk(reader, { metric, title, by: [by], ...scope });
  if (asked.kind === 'refusal') return emptyFigure(spec, asSentence(asked.why));
  const { result } = asked;
  const groups = groupsOf(result, { group: by, format, most });
  if (groups.length === 0) return emptyFigure(spec, emptinessOf(result), [result]);
  return {
    kind: 'figure',
    id: spec.id,
    title,
    subtitle: `${spec.unit}, ${periodWords(reader.filters)}${words}`,
    table: tableOf(groups, spec, wholeSumOf(cellsOf(groups), format)),
    results: [result],
  };
}

function tableOf(groups: readonly Group[], spec: Ranking, whole: ReturnType<typeof wholeSumOf>): Table {
  const max = largestOf(groups);
  const nameCell = spec.nameCell ?? nameOf;
  return {
    columns: [
      { title: spec.thing },
      { title: spec.amount, align: 'end' },
      { title: '' },
      { title: 'Share', align: 'end' },
    ],
    rows: groups.map((group) => [
      nameCell(group),
      group.total,
      { kind: 'bar', value: group.isOthers ? null : group.total.value, max },
      shareOf(group.total, whole),
    ]),
  };
}

/** The longest bar is that of the largest group: the others together would make all bars short. */
export function largestOf(groups: readonly Group[]): number {
  return Math.max(0, ...groups.map(({ total, isOthers }) => (isOthers ? 0 : (total.value ?? 0))));
}

/** True for teams where no people are loaded: the answer warns of it, and has nobody in a team. */
export function isWithoutPeople({ rows, warnings }: MetricResult, by: Dimension): boolean {
  return by === 'team' && warnings.length > 0 && rows.every(({ team }) => team === null);
}

/** The name of a group as text; the others with their number. */
function nameOf({ name, isOthers, members }: Group): Cell {
  return { kind: 'text', text: isOthers ? `${members.length} ${name}` : name, isMuted: isOthers };
}

function cellsOf(groups: readonly Group[]) {
  return groups.map(({ total }) => total);
}

/** What people read where a group has no name. */
const OTHERS = 'others';

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

/** What a group of a row is called: rows of people without a team, and of no model, have names too. */
export function groupName(row: MetricResult['rows'][number], by: Dimension): string {
  return String(row[by] ?? (by === 'team' ? UNASSIGNED : 'none'));
}

/**
 * The groups of an answer, largest first, at most `most` and then the others merged. Only for metrics that add up.
 * @param question `group` is the column that names the group, `bucket` that of the time, if any.
 */
export function groupsOf(
  result: MetricResult,
  {
    group,
    bucket,
    format,
    most = 4,
  }: {
    group: Dimension;
    bucket?: Grain;
    format: NumberFormat;
    most?: number;
  },
): Group[] {
  const byName = new Map<string, Map<string, ShownNumber>>();
  const alone = new Map<string, ShownNumber>();
  const counts = Map.groupBy(result.rows, (row) => row[bucket ?? group]);
  for (const [index, row] of result.rows.entries()) {
    const key = bucket === undefined ? '' : String(row[bucket]);
    const [open, why] =
      bucket === undefined ? [] : [bucketOpenness(result, bucket, key), whyNoValue(result, bucket, key)];
    const number = cellOf(result, index, format, { open, why });
    // A bucket in which nothing occurs has one row without a group: 0, or no value if none of its days is stored.
    if (bucket !== undefined && row[group] === null && !row.value && counts.get(row[bucket])?.length === 1) {
      alone.set(key, number);
      continue;
    }
    const name = groupName(row, group);
    byName.set(name, (byName.get(name) ?? new Map<string, ShownNumber>()).set(key, number));
  }
  for (const numbers of byName.values()) for (const [key, number] of alone) numbers.set(key, number);
  const all = [...byName].map(([name, numbers]) =>
    groupOf(name, numbers, { format, members: [name], isOthers: false }),
  );
  const ranked = all.toSorted(bySize);
  const rest = ranked.slice(most);
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

/** The groups of a count of people, the largest count of all first. Groups are never added: someone can be in several. */
export function distinctGroups(
  result: MetricResult,
  options: { group: Dimension; bucket: Grain; format: NumberFormat },
): readonly Group[] {
  const largest = ({ numbers }: Group) => Math.max(...[...numbers.values()].map(({ value }) => value ?? 0));
  return groupsOf(result, { ...options, most: Number.POSITIVE_INFINITY }).toSorted(
    (a, b) => largest(b) - largest(a) || (a.name < b.name ? -1 : 1),
  );
}
