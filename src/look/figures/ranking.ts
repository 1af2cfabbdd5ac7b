import type { Dimension } from '../../../schema/metrics.ts';
import type { Group } from '../data/groups.ts';
import type { PageReader } from '../data/reader.ts';
import { scopeOf } from '../data/scope.ts';
import { tryAsk } from '../data/try-ask.ts';
import { viewedGroups } from '../data/viewed-groups.ts';
import { type NumberFormat, shareOf, wholeSumOf } from '../page/numbers.ts';
import type { Cell, Figure, Table } from '../page/page.ts';
import { sentenceOf } from '../words/sentences.ts';
import { periodWords } from '../words/spans.ts';
import { emptinessOf, emptyFigure, type FigureName } from './empty-figure.ts';

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
  if (asked.kind === 'refusal') return emptyFigure(spec, sentenceOf(asked.why));
  const { result } = asked;
  const groups = viewedGroups(reader, result, { group: by, format, most });
  if (groups.length === 0) return emptyFigure(spec, emptinessOf(result), [result]);
  return {
    kind: 'figure',
    id: spec.id,
    title,
    subtitle: `${spec.unit}, ${periodWords(reader.filters)}${words}`,
    table: tableOf(groups, spec, wholeSumOf(cellsOf(groups), format)),
    tableIs: 'shown',
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

/** The name of a group as text; the others with their number. */
function nameOf({ name, isOthers, members }: Group): Cell {
  return { kind: 'text', text: isOthers ? `${members.length} ${name}` : name, isMuted: isOthers };
}

function cellsOf(groups: readonly Group[]) {
  return groups.map(({ total }) => total);
}
