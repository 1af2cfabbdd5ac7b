import { UNASSIGNED } from '../../rollups/index.ts';
import {
  cellOf,
  changeOf,
  differenceOf,
  type MetricResult,
  type NumberFormat,
  noNumber,
  type ShownNumber,
  shareOf,
  wholeSumOf,
} from '../numbers.ts';
import { type Cell, emptinessOf, emptyFigure, type Figure, linkTo, type Phrase } from '../page.ts';
import { type PageReader, scopeOf, tryAsk } from '../reader.ts';
import { holeIn, NO_SPAN_BEFORE, periodBefore } from '../time-spans.ts';
import { asSentence, periodWords } from '../words.ts';
import { type Group, groupsOf } from './groups.ts';

const ROWS_MAX = 8;

/** What a table of drivers is about. */
interface Drivers {
  readonly by: 'team' | 'model';
  readonly metric: string;
  readonly id: string;
  readonly title: string;
  readonly thing: string;
  /** The heading of the amounts: `Cost, EUR`. */
  readonly amount: string;
  readonly format: NumberFormat;
  /** With a sign, for differences of amounts. */
  readonly changeFormat: NumberFormat;
  /** What the last row equals. */
  readonly total: ShownNumber;
  /** The page with all rows. */
  readonly path: string;
  readonly notes?: readonly Phrase[];
}

/** The largest teams or models with share and change, the others together, and their sum. */
export async function drivers(reader: PageReader, spec: Drivers): Promise<Figure> {
  const { by, metric, format, changeFormat, thing, total } = spec;
  const name = {
    id: spec.id,
    title: spec.title,
    unit: `${thing}s by ${spec.amount.slice(0, 1).toLowerCase()}${spec.amount.slice(1)}`,
  };
  const { words, ...scope } = scopeOf(reader.filters, metric);
  const question = { metric, title: `${spec.amount} by ${by}`, by: [by], ...scope };
  const asked = await tryAsk(reader, question);
  if (asked.kind === 'refusal') return emptyFigure(name, asSentence(asked.why));
  const now = asked.result;
  if (by === 'team' && now.rows.every(({ team }) => team === null)) {
    const empty = 'Nobody has a team. Load people with `daywalk people load people.csv`.';
    return emptyFigure(name, emptinessOf(now, empty), [now]);
  }
  const before = periodBefore(reader.filters);
  const found =
    before === null
      ? null
      : await tryAsk(reader, { ...question, ...before, title: `${question.title} before` });
  const then = found?.kind === 'answer' ? found.result : null;
  const groups = groupsOf(now, { group: by, format, most: ROWS_MAX });
  if (groups.length === 0) return emptyFigure(name, emptinessOf(now), [now]);
  const all = wholeSumOf(
    groups.map((group) => group.total),
    format,
  );
  const isOwn = words === '' && total.value !== null;
  const rest =
    isOwn && all.value !== null && !isSame(all.value, total.value) ? [differenceOf(total, all, format)] : [];
  const changes = groups.map((group) => changeIn(group, { groups, now, then, by, format: changeFormat }));
  const max = Math.max(0, ...changes.map(({ by: size }) => Math.abs(size.value ?? 0)));
  const whole = isOwn ? total : all;
  const wholeChange = changeIn(null, { groups, now, then, by, format: changeFormat }, all);
  return {
    kind: 'figure',
    ...{ id: spec.id, title: spec.title },
    subtitle: `${name.unit}${words}${before === null ? '' : `; change against ${periodWords(before, reader.filters.until)}`}`,
    table: {
      columns: [
        { title: thing },
        { title: spec.amount, align: 'end' },
        { title: 'Share', align: 'end', isSpare: true },
        { title: '' },
        { title: 'Change', align: 'end' },
        { title: 'in %', align: 'end', isSpare: true },
      ],
      rows: [
        ...groups.map((group, index): Cell[] => [
          nameOf(group, spec),
          group.total,
          shareOf(group.total, whole),
          { kind: 'delta', value: changes[index]?.by.value ?? null, max },
          ...changeCells(changes[index]),
        ]),
        ...rest.map((number): Cell[] => [
          { kind: 'text', text: `without a ${by}`, isMuted: true },
          number,
          shareOf(number, whole),
          { kind: 'delta', value: null, max },
          ...changeCells(undefined),
        ]),
        [
          { kind: 'phrase', parts: [{ kind: 'strong', parts: [`All ${by}s`] }] },
          { kind: 'phrase', parts: [{ kind: 'strong', parts: [whole] }] },
          shareOf(whole, whole),
          { kind: 'delta', value: null, max },
          ...changeCells(rest.length > 0 ? undefined : wholeChange),
        ],
      ],
    },
    tableIs: 'shown',
    results: [now, ...(then === null ? [] : [then])],
    notes: spec.notes ?? [],
  };
}

function isSame(a: number, b: number | null): boolean {
  return b !== null && Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

interface Change {
  readonly by: ShownNumber;
  readonly relative: ShownNumber;
}

function changeCells(change: Change | undefined): [Cell, Cell] {
  const none = noNumber('it was not broken down before', 'change');
  return [change?.by ?? none, change?.relative ?? none];
}

/**
 * The change of a group, or of all if it is null. What there was before and is not any more counts among the others, so that the
 * changes add up.
 */
function changeIn(
  group: Group | null,
  {
    groups,
    now,
    then,
    by,
    format,
  }: {
    groups: readonly Group[];
    now: MetricResult;
    then: MetricResult | null;
    by: 'team' | 'model';
    format: NumberFormat;
  },
  total?: ShownNumber,
): Change {
  const amount = total ?? group?.total ?? noNumber('nothing occurred', format);
  const why = then === null ? NO_SPAN_BEFORE : holeIn(now, then);
  if (then === null || why !== undefined)
    return { by: noNumber(why ?? '', format), relative: noNumber(why ?? '', 'change') };
  const named = new Set(groups.flatMap(({ isOthers, name }) => (isOthers ? [] : name)));
  const isOwn = (name: string) => group === null || (group.isOthers ? !named.has(name) : group.name === name);
  const cells = then.rows.flatMap((row, index) =>
    row.value !== null && isOwn(String(row[by] ?? (by === 'team' ? UNASSIGNED : 'none')))
      ? [cellOf(then, index, format)]
      : [],
  );
  if (cells.length === 0) return { by: { ...amount, format }, relative: noNumber('it is new', 'change') };
  const before = wholeSumOf(cells, format);
  return { by: differenceOf(amount, before, format), relative: changeOf(amount, before) };
}

function nameOf({ name, isOthers, members }: Group, { by, path }: Drivers): Cell {
  if (isOthers) return { kind: 'link', text: `others (${members.length})`, path };
  return by === 'team' ? linkTo('/teams', name, name) : { kind: 'text', text: name };
}
