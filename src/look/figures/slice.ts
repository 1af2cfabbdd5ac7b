import { type Dimension, type Grain, UNNAMED } from '../../../schema/metrics/dictionary.ts';
import { parseDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import { cellOf, type NumberFormat, shareOf } from '../numbers.ts';
import {
  type Cell,
  emptyFigure,
  type Figure,
  type Headline,
  linkTo,
  type Slice,
  slicePath,
} from '../page.ts';
import { type PageReader, scopeOf, tryAsk } from '../reader.ts';
import { bucketOpenness } from '../time-spans.ts';
import { asSentence } from '../words.ts';
import { drivers, modelLinks } from './drivers.ts';
import { groupName } from './groups.ts';

export const ROWS = ['person', 'team', 'model', 'day', 'week', 'month'] as const;
type Rows = (typeof ROWS)[number];
export const VALUES = ['cost', 'credits'] as const;
type Value = (typeof VALUES)[number];

const DIMENSION_OF: Readonly<Record<Rows, Dimension>> = {
  ...{ person: 'user', team: 'team', model: 'model' },
  ...{ day: 'date', week: 'week', month: 'month' },
};

/** Rows on a page; what is beyond them is one row. */
const ROWS_MAX = 500;

/** What the page is about, once it is known to exist. */
export interface Chosen {
  /** The name; `unassigned` for people without a team. */
  readonly team: string | undefined;
  readonly model: string | undefined;
  readonly person: string | undefined;
  readonly by: Rows;
  readonly value: Value;
}

/** What adds up to the number that the page is about. Of a model of everybody, it is what the service publishes. */
export function metricOf({ team, model, person, value }: Chosen) {
  const isMoney = value === 'cost';
  const prefix =
    model === undefined ? '' : team === undefined && person === undefined ? 'published_' : 'user_model_';
  return {
    metric: `${prefix}${isMoney ? 'cost' : 'billable_tokens'}`,
    format: isMoney ? ('money' as const) : ('compact' as const),
  };
}

/** What the rows are. Parts of everybody by model are published; other parts by model are those of users. */
function metricOfRows(chosen: Chosen): string {
  const { team, model, person, by, value } = chosen;
  if (by !== 'model' && (model === undefined || (by !== 'person' && by !== 'team'))) {
    return metricOf(chosen).metric;
  }
  const isPublished = by === 'model' && team === undefined && person === undefined;
  return `${isPublished ? 'published' : 'user_model'}_${value === 'cost' ? 'cost' : 'billable_tokens'}`;
}

/** The rows that add up to the number of the page. */
export async function sliceRows(
  reader: PageReader,
  { chosen, total, names }: { chosen: Chosen; total: Headline; names: ReadonlyMap<string, string> },
): Promise<Figure> {
  const { by, value } = chosen;
  if (by === 'day' || by === 'week' || by === 'month') return timeRows(reader, { chosen, total });
  const isMoney = value === 'cost';
  const narrower = (part: Slice) => slicePath({ ...sliceOf(chosen), by: undefined, ...part });
  const links = {
    person: {
      nameCell: (id: string): Cell =>
        NOBODY.includes(id) ? { kind: 'text', text: id } : linkTo('/people', id, names.get(id) ?? lastOf(id)),
      pathOf: (id: string) => (NOBODY.includes(id) ? undefined : narrower({ person: id })),
    },
    team: {
      nameCell: (team: string) => linkTo('/teams', team, team),
      pathOf: (team: string) => narrower({ team }),
    },
    model: { ...modelLinks(value), pathOf: (model: string) => narrower({ model }) },
  }[by];
  const metric = metricOfRows(chosen);
  const rows = await drivers(reader, {
    ...{ id: 'rows', title: TITLES[by], thing: THINGS[by], by: DIMENSION_OF[by] },
    ...{ metric, most: ROWS_MAX, total: total.number, ...links },
    amount: isMoney ? ['Cost', ...(total.unit === undefined ? [] : [total.unit])].join(', ') : 'Credits',
    format: isMoney ? 'money' : 'compact',
    changeFormat: isMoney ? 'moneyChange' : 'compactChange',
  });
  const make = () => dailyRows(reader, { by, metric, format: isMoney ? 'money' : 'compact' });
  return { ...rows, files: [{ id: 'daily-rows', text: 'CSV by day', make }] };
}

/** The rows of a file; longer ones would take the memory of the dashboard. */
const DAILY_ROWS_MAX = 200_000;

/** The rows by day. What is empty has no row. */
async function dailyRows(
  reader: PageReader,
  { by, metric, format }: { by: Rows; metric: string; format: NumberFormat },
): Promise<Figure> {
  const dimension = DIMENSION_OF[by];
  const { words: _, ...scope } = scopeOf(reader.filters, metric);
  const result = await reader.ask({ metric, title: 'Rows by day', by: ['date', dimension], ...scope });
  const count = result.rows.length;
  if (count > DAILY_ROWS_MAX) {
    throw new UsageError(`the file would have ${count} rows, more than ${DAILY_ROWS_MAX}`, {
      hint: 'choose a shorter period; daywalk metric has no such limit',
    });
  }
  return {
    ...{ kind: 'figure', id: 'daily-rows', title: `${TITLES[by]} by day`, subtitle: '' },
    table: {
      columns: [{ title: 'Day' }, { title: THINGS[by] }, { title: metric, align: 'end' }],
      rows: result.rows.flatMap((row, index): Cell[][] => [
        [
          { kind: 'text', text: String(row['date']) },
          { kind: 'text', text: groupName(row, dimension) },
          cellOf(result, index, format),
        ],
      ]),
    },
    ...{ tableIs: 'shown', results: [result] },
  };
}

const THINGS = {
  ...{ person: 'Person', team: 'Team', model: 'Model' },
  ...{ day: 'Day', week: 'Week from', month: 'Month' },
} as const;

const TITLES = {
  ...{ person: 'People', team: 'Teams', model: 'Models' },
  ...{ day: 'Days', week: 'Weeks', month: 'Months' },
} as const;

/** Groups of rows by person that are nobody alone. */
const NOBODY: readonly string[] = [UNASSIGNED, UNNAMED, 'none'];

/** As much of an ID as tells people apart. */
export const lastOf = (id: string): string => id.slice(-6);

/** Rows of days, weeks or months, the newest first. */
async function timeRows(
  reader: PageReader,
  { chosen, total }: { chosen: Chosen; total: Headline },
): Promise<Figure> {
  const { by, value } = chosen;
  const { metric, format } = metricOf(chosen);
  const grain = GRAIN_OF[by] ?? 'date';
  const name = { id: 'rows', title: TITLES[by], unit: value === 'cost' ? (total.unit ?? 'Cost') : 'Credits' };
  const asked = await tryAsk(reader, { metric, title: `${name.unit} by ${by}`, by: [grain] });
  if (asked.kind === 'refusal') return emptyFigure(name, asSentence(asked.why));
  const { result } = asked;
  const cells = result.rows.map((row, index) => {
    const bucket = String(row[grain]);
    const open = bucketOpenness(result, grain, bucket);
    const number = cellOf(result, index, format, { open, why: 'nothing is stored' });
    const day = grain === 'date' ? parseDay(bucket) : undefined;
    const path = slicePath({ ...sliceOf(chosen), by: undefined, from: day, until: day });
    return { bucket, number: { ...number, ...(day !== undefined && { path }) } };
  });
  const max = Math.max(0, ...cells.map(({ number }) => number.value ?? 0));
  return {
    kind: 'figure',
    ...{ id: name.id, title: name.title, subtitle: `${name.unit}, the newest first` },
    table: {
      columns: [
        { title: THINGS[by] },
        { title: name.unit, align: 'end' },
        { title: '' },
        { title: 'Share', align: 'end', isSpare: true },
      ],
      rows: [
        ...cells
          .map(({ bucket, number }): Cell[] => [
            { kind: 'text', text: bucket },
            number,
            { kind: 'bar', value: number.value, max },
            shareOf(number, total.number),
          ])
          .toReversed(),
        [
          { kind: 'phrase', parts: [{ kind: 'strong', parts: ['All'] }] },
          { kind: 'phrase', parts: [{ kind: 'strong', parts: [total.number] }] },
          { kind: 'bar', value: null, max },
          shareOf(total.number, total.number),
        ],
      ],
    },
    results: [result],
  };
}

const GRAIN_OF: Readonly<Partial<Record<Rows, Grain>>> = { day: 'date', week: 'week', month: 'month' };

export function sliceOf({ team, model, person, by, value }: Chosen): Slice {
  return { team, model, person, by, value };
}
