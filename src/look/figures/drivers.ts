import type { Dimension } from '../../../schema/metrics/dictionary.ts';
import {
  cellOf,
  changeOf,
  differenceOf,
  type MetricResult,
  type NumberFormat,
  noNumber,
  type ShownNumber,
  shareOf,
  sumOf,
  wholeSumOf,
  zeroIn,
} from '../numbers.ts';
import {
  type Cell,
  emptinessOf,
  emptyFigure,
  type Figure,
  linkTo,
  type Phrase,
  slicePath,
  type Table,
} from '../page.ts';
import { type PageReader, scopeOf, tryAsk } from '../reader.ts';
import { holeIn, NO_SPAN_BEFORE, periodBefore } from '../time-spans.ts';
import { asSentence, periodWords } from '../words.ts';
import { type Group, groupName, groupsOf, isWithoutPeople, type Ranking } from './groups.ts';

const ROWS_MAX = 8;

/** What a table of drivers is about. */
interface Drivers extends Omit<Ranking, 'unit' | 'nameCell'> {
  /** How many rows there are before the others. @default 8 */
  readonly most?: number;
  /** With a sign, for differences of amounts. */
  readonly changeFormat: NumberFormat;
  /** What the last row equals. */
  readonly total: ShownNumber;
  /** The page with all rows; undefined if it is this one. */
  readonly path?: string;
  /** The name of a group as a link. @default text */
  readonly nameCell?: (name: string) => Cell;
  /** Where the number of a group opens. */
  readonly pathOf?: (name: string) => string | undefined;
  readonly notes?: readonly Phrase[];
}

/** The largest teams, models or people with share and change, the others together, and their sum. */
export async function drivers(reader: PageReader, spec: Drivers): Promise<Figure> {
  const { by, metric, format, thing, total } = spec;
  const name = {
    id: spec.id,
    title: spec.title,
    unit: `${capital(PLURALS[thing] ?? `${thing}s`)} by ${spec.amount.slice(0, 1).toLowerCase()}${spec.amount.slice(1)}`,
  };
  const { words, ...scope } = scopeOf(reader.filters, metric);
  const question = { metric, title: `${spec.amount} by ${by}`, by: [by], ...scope };
  const asked = await tryAsk(reader, question);
  if (asked.kind === 'refusal') return emptyFigure(name, asSentence(asked.why));
  const now = asked.result;
  if (isWithoutPeople(now, by)) return emptyFigure(name, emptinessOf(now), [now]);
  const before = periodBefore(reader.filters);
  const found =
    before === null
      ? null
      : await tryAsk(reader, { ...question, ...before, title: `${question.title} before` });
  const then = found?.kind === 'answer' ? found.result : null;
  const noThen = found?.kind === 'refusal' ? found.why : NO_SPAN_BEFORE;
  const groups = groupsOf(now, { group: by, format, most: spec.most ?? ROWS_MAX });
  if (groups.length === 0) return emptyFigure(name, emptinessOf(now), [now]);
  return {
    kind: 'figure',
    ...{ id: spec.id, title: spec.title },
    subtitle: `${name.unit}${words}${before === null ? '' : `; change against ${periodWords(before, reader.filters.until)}`}`,
    table: tableOf(groups, { spec, now, then, noThen, isOwn: words === '' && total.value !== null }),
    results: [now, ...(then === null ? [] : [then])],
    notes: spec.notes ?? [],
  };
}

interface Spans {
  readonly now: MetricResult;
  /** The span before; null if there is none, because of `noThen`. */
  readonly then: MetricResult | null;
  readonly noThen: string;
}

/** @param isOwn the groups are parts of the total of the page */
function tableOf(
  groups: readonly Group[],
  { spec, now, then, noThen, isOwn }: Spans & { spec: Drivers; isOwn: boolean },
): Table {
  const { by, format, changeFormat, thing, total } = spec;
  // Where the total is known, a group without a number is one of which the service sent none.
  const all = (isOwn ? sumOf : wholeSumOf)(
    groups.map((group) => group.total),
    format,
  );
  const spans = { now, then, noThen, by, format: changeFormat };
  const changes = groups.map((group) => changeIn(group, spans));
  const whole = isOwn ? total : all;
  const gone = then === null ? null : goneFrom(groups, { now, then, by, format });
  const goneBy = gone === null ? [] : [changeIn(gone, spans)];
  const max = Math.max(0, ...[...changes, ...goneBy].map(({ by: size }) => Math.abs(size.value ?? 0)));
  const hasRest = isOwn && all.value !== null && !isSame(all.value, total.value);
  const line = (name: Cell, number: ShownNumber, change?: Change): Cell[] => [
    name,
    number,
    shareOf(number, whole),
    { kind: 'delta', value: change?.by.value ?? null, max },
    ...changeCells(change),
  ];
  const lacking = now.basis.days.missing.length > 0 ? ', or of days that are missing' : '';
  const muted = (text: string): Cell => ({ kind: 'text', text, isMuted: true });
  const strong = (part: string | ShownNumber): Cell => ({
    kind: 'phrase',
    parts: [{ kind: 'strong', parts: [part] }],
  });
  return {
    columns: [
      { title: thing },
      { title: spec.amount, align: 'end' },
      { title: 'Share', align: 'end', isSpare: true },
      { title: '' },
      { title: 'Change', align: 'end' },
      { title: 'in %', align: 'end', isSpare: true },
    ],
    rows: [
      ...groups.map((group, index) => {
        const path = group.isOthers ? undefined : spec.pathOf?.(group.name);
        return line(nameOf(group, spec), { ...group.total, path }, changes[index]);
      }),
      ...(gone === null ? [] : [line(muted(`not any more (${gone.members.length})`), gone.total, ...goneBy)]),
      ...(hasRest
        ? [line(muted(`without a ${thing.toLowerCase()}${lacking}`), differenceOf(total, all, format))]
        : []),
      [
        strong(`All ${PLURALS[thing] ?? `${thing.toLowerCase()}s`}`),
        strong(whole),
        shareOf(whole, whole),
        { kind: 'delta', value: null, max },
        ...changeCells(hasRest ? undefined : changeIn(null, spans, all)),
      ],
    ],
  };
}

/** The groups of the span before that are not in the period any more, as one; null if there are none. */
function goneFrom(
  groups: readonly Group[],
  { now, then, by, format }: { now: MetricResult; then: MetricResult; by: Dimension; format: NumberFormat },
): Group | null {
  const present = new Set(groups.flatMap(({ members }) => members));
  const members = [...new Set(then.rows.map((row) => groupName(row, by)))];
  const lost = members.filter((name) => !present.has(name));
  if (lost.length === 0 || holeIn(now, then) !== undefined) return null;
  return { name: '', isOthers: true, members: lost, numbers: new Map(), total: zeroIn(now, format) };
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

/** The change of a group, or of all if it is null. */
function changeIn(
  group: Group | null,
  { now, then, noThen, by, format }: Spans & { by: Dimension; format: NumberFormat },
  total?: ShownNumber,
): Change {
  const amount = total ?? group?.total ?? noNumber('nothing occurred', format);
  const why = then === null ? noThen : holeIn(now, then);
  if (then === null || why !== undefined)
    return { by: noNumber(why ?? '', format), relative: noNumber(why ?? '', 'change') };
  const cells = then.rows.flatMap((row, index) =>
    group === null || group.members.includes(groupName(row, by))
      ? [cellOf(then, index, format, { why: then.warnings[0] })]
      : [],
  );
  if (cells.length === 0) return { by: { ...amount, format }, relative: noNumber('it is new', 'change') };
  const before = (then.warnings.length === 0 ? sumOf : wholeSumOf)(cells, format);
  return { by: differenceOf(amount, before, format), relative: changeOf(amount, before) };
}

const PLURALS: Readonly<Record<string, string>> = { Person: 'people' };

function capital(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

function nameOf({ name, isOthers, members }: Group, { path, nameCell }: Drivers): Cell {
  const others = `others (${members.length})`;
  if (isOthers)
    return path === undefined ? { kind: 'text', text: others } : { kind: 'link', text: others, path };
  return nameCell?.(name) ?? { kind: 'text', text: name };
}

/** Names of teams lead to their pages, and their numbers to what they consist of. */
export function teamLinks(value: string): Pick<Drivers, 'nameCell' | 'pathOf'> {
  return {
    nameCell: (name) => linkTo('/teams', name, name),
    pathOf: (team) => slicePath({ team, value }),
  };
}

/** Names and numbers of models lead to what they consist of. */
export function modelLinks(value: string): Pick<Drivers, 'nameCell' | 'pathOf'> {
  const pathOf = (model: string) => slicePath({ model, value });
  return {
    nameCell: (name) => {
      const path = pathOf(name);
      return path === undefined ? { kind: 'text', text: name } : { kind: 'link', text: name, path };
    },
    pathOf,
  };
}
