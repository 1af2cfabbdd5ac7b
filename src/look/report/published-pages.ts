import type { Measure, Metric, Term } from '../../../schema/metrics/define.ts';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { queryText } from '../../../schema/query.ts';
import { isDay } from '../../core/day.ts';
import { runReads, type Warehouse } from '../../port/index.ts';
import {
  largeEnough,
  OTHERS,
  type PublishedNumber,
  publishedRows,
  restatedWeeks,
  WEEK_DIMENSIONS,
  waitingWeeks,
} from '../../weeks/index.ts';
import { stacks } from '../charts/bars.ts';
import {
  cellOf,
  type NumberFormat,
  noNumber,
  type Result,
  type ShownNumber,
  shareOf,
  sumOf,
} from '../numbers.ts';
import { type Cell, emptyFigure, type Figure, type Page, type Phrase } from '../page.ts';
import type { Filters } from '../reader.ts';
import { dayName, periodHeading } from '../words.ts';

/** A page of a report. */
export interface ReportPage {
  /** Its path in the dashboard, by which pages link to each other. */
  readonly path: string;
  readonly page: Page;
}

/** What is asked of published weeks. The period is whole weeks; a team is the name of a block. */
export interface PublishedRequest {
  readonly filters: Filters;
  readonly minGroup: number;
  readonly now: Date;
}

/** The blocks of a dimension that may be shown, each with its numbers by metric and week. */
interface Blocks {
  readonly result: Result;
  readonly names: readonly string[];
  of(block: string, metric: string): ReadonlyMap<string, ShownNumber>;
}

/**
 * The pages of a report for a team or the public. They show published weeks and nothing else: their numbers, sums of these, and
 * quotients of such sums. Call inside a snapshot.
 */
export async function publishedPages(warehouse: Warehouse, request: PublishedRequest): Promise<ReportPage[]> {
  const { team } = request.filters;
  const read = blocksReader(warehouse, request);
  const notes = await notesOf(warehouse, request);
  if (team !== undefined) {
    const blocks = await read('team', team ?? undefined);
    return [{ path: '/', page: mainPage(blocks, team ?? '', request, notes) }];
  }
  const pages = [{ path: '/', page: mainPage(await read('total'), '', request, notes) }];
  for (const dimension of WEEK_DIMENSIONS) {
    const blocks = await read(dimension);
    if (blocks.names.length > 0)
      pages.push({ path: DIMENSIONS[dimension].path, page: dimensionPage(blocks, dimension, request) });
  }
  return pages;
}

/** The names of the teams that are shown alone in some week. */
export async function publishedTeams(
  warehouse: Warehouse,
  request: PublishedRequest,
): Promise<readonly string[]> {
  const { names } = await blocksReader(warehouse, request)('team');
  return names.filter((name) => name !== OTHERS);
}

function blocksReader(warehouse: Warehouse, { filters, minGroup }: PublishedRequest) {
  const { orgId, from, until } = filters;
  let count = 0;
  return async (dimension: string, block?: string): Promise<Blocks> => {
    const query = publishedRows({ orgId, from, until, dimension, block });
    const rows = (await warehouse.select(query)) as readonly PublishedNumber[];
    // The limit is judged by all blocks of a week.
    const all =
      block === undefined
        ? rows
        : ((await warehouse.select(
            publishedRows({ orgId, from, until, dimension }),
          )) as readonly PublishedNumber[]);
    const isShown = largeEnough(all, minGroup);
    count += 1;
    const result: Result = {
      id: `q${count}`,
      title: `Published weeks by ${dimension}`,
      sql: queryText(query),
      rows,
      unit: null,
      basis: { from, until, days: { expected: 0, settled: 0, unsettled: [], missing: [] }, run: null },
      warnings: [],
    };
    const cells = rows.flatMap((row, index) => (isShown(row) ? [{ row, index }] : []));
    const byBlock = Map.groupBy(cells, ({ row }) => row.block);
    return {
      result,
      names: [...byBlock.keys()],
      of: (name, metric) => {
        const column = metric === PEOPLE ? 'people' : 'value';
        const own = (byBlock.get(name) ?? []).filter(({ row }) => metric === PEOPLE || row.metric === metric);
        return new Map(
          own.map(({ row, index }) => [
            row.week_start,
            cellOf(result, index, formatOf(metric), { column, open: null }),
          ]),
        );
      },
    };
  };
}

/** The number of people is beside each number. */
const PEOPLE = 'active_users';

const METRICS = new Map(allMetrics.map((metric) => [metric.name, metric]));

function formatOf(metric: string): NumberFormat {
  const unit = METRICS.get(metric)?.unit;
  return unit === 'currency' ? 'money' : 'compact';
}

function titleOf(metric: string): string {
  return METRICS.get(metric)?.title ?? metric;
}

function total(numbers: ReadonlyMap<string, ShownNumber>, metric: string): ShownNumber {
  return sumOf([...numbers.values()], formatOf(metric));
}

/** A mean over the weeks that have a number. */
function mean(numbers: ReadonlyMap<string, ShownNumber>): ShownNumber {
  const sum = sumOf([...numbers.values()], 'decimal');
  return {
    ...sum,
    value: sum.value === null ? null : sum.value / numbers.size,
    formula: { op: 'mean', of: [...numbers.values()].map(({ formula }) => formula) },
  };
}

/** What the period is about, week by week, and the sums and ratios over all weeks. */
function mainPage(
  blocks: Blocks,
  block: string,
  { filters }: PublishedRequest,
  notes: readonly Phrase[],
): Page {
  const weeks = [...blocks.of(block, PEOPLE).keys()].toSorted();
  const credits = total(blocks.of(block, 'billable_tokens'), 'billable_tokens');
  return {
    name: 'Overview',
    heading: periodHeading(filters),
    sentence: [
      { kind: 'strong', parts: [credits, ' credits'] },
      ` in ${weeks.length} published ${weeks.length === 1 ? 'week' : 'weeks'}, by `,
      { kind: 'strong', parts: [mean(blocks.of(block, PEOPLE)), ' people'] },
      ' a week on average.',
    ],
    sections: [
      weeksFigure(blocks, block, weeks, notes),
      sumsFigure(blocks, block),
      ratiosFigure(blocks, block),
    ],
  };
}

const WEEK_COLUMNS = [
  PEOPLE,
  'billable_tokens',
  'sessions',
  'messages',
  'tool_calls',
  'git_commits',
  'git_prs_created',
  'cost',
];

function weeksFigure(
  blocks: Blocks,
  block: string,
  weeks: readonly string[],
  notes: readonly Phrase[],
): Figure {
  const name = { id: 'weeks', title: 'Week by week', unit: 'Million credits' };
  const columns = WEEK_COLUMNS.filter((metric) => blocks.of(block, metric).size > 0);
  if (weeks.length === 0) return emptyFigure(name, 'Nothing is published.', [blocks.result]);
  const numberIn = (week: string, metric: string) =>
    blocks.of(block, metric).get(week) ?? noNumber('it is not published', formatOf(metric));
  return {
    kind: 'figure',
    id: name.id,
    title: name.title,
    subtitle: `${name.unit}, each week as it was published`,
    chart: chartOf(
      name.title,
      ['credits'],
      (_, week) => numberIn(week, 'billable_tokens').value,
      weeks,
      false,
    ),
    table: {
      columns: [
        { title: 'Week from' },
        ...columns.map((metric) => ({ title: titleOf(metric), align: 'end' as const })),
      ],
      rows: weeks
        .toReversed()
        .map((week) => [text(week), ...columns.map((metric) => numberIn(week, metric))]),
    },
    tableIs: 'shown',
    results: [blocks.result],
    notes,
  };
}

function sumsFigure(blocks: Blocks, block: string): Figure {
  const metrics = [...METRICS.keys()].filter(
    (metric) => metric !== PEOPLE && blocks.of(block, metric).size > 0,
  );
  return {
    kind: 'figure',
    id: 'sums',
    title: 'All numbers',
    subtitle: 'Sums of the published weeks',
    table: {
      columns: [{ title: '' }, { title: 'Sum', align: 'end' }, { title: 'Weeks', align: 'end' }],
      rows: metrics.map((metric) => {
        const numbers = blocks.of(block, metric);
        return [text(titleOf(metric)), total(numbers, metric), text(String(numbers.size))];
      }),
    },
    tableIs: 'shown',
    results: [blocks.result],
  };
}

/** Ratios of the dictionary whose parts are published. People count once in each week. */
function ratiosFigure(blocks: Blocks, block: string): Figure {
  const sums = (term: Term, metric: Metric) =>
    namesIn(term, metric).map((name) => total(blocks.of(block, name), name));
  const rows = allMetrics.flatMap((metric): (readonly Cell[])[] => {
    const { measure, title, unit } = metric;
    if (!isRatio(measure)) return [];
    const parts = [measure.numerator, measure.denominator].map((term) => sums(term, metric));
    if (parts.some((own) => own.length === 0 || own.some(({ value }) => value === null))) return [];
    const [above = noNumber(''), below = noNumber('')] = parts.map((own) => sumOf(own, 'decimal'));
    return [
      [text(title), { ...shareOf(above, below), format: unit === 'ratio' ? 'share' : 'decimal' }, text(unit)],
    ];
  });
  return {
    kind: 'figure',
    id: 'ratios',
    title: 'Ratios',
    subtitle: 'Quotients of the sums above; someone who was active in several weeks counts in each',
    table: { columns: [{ title: '' }, { title: 'Ratio', align: 'end' }, { title: 'Unit' }], rows },
    tableIs: 'shown',
    results: [blocks.result],
  };
}

function isRatio(measure: Measure): measure is Extract<Measure, { kind: 'ratio' }> {
  return measure.kind === 'ratio';
}

/** The published metrics that a term is the sum of; none if it is not one. */
function namesIn(term: Term, { source }: Metric): readonly string[] {
  if (term.kind === 'users') return [PEOPLE];
  if (term.kind === 'cost') return ['cost'];
  if (term.where !== undefined) return [];
  const names = term.columns.map(
    (column) =>
      allMetrics.find(
        ({ measure, source: { table } }) =>
          table === source.table &&
          measure.kind === 'term' &&
          measure.term.kind === 'sum' &&
          measure.term.where === undefined &&
          measure.term.columns.join() === column,
      )?.name,
  );
  return names.every((name) => name !== undefined) ? names : [];
}

const USED = [
  'billable_tokens',
  'cost',
  'sessions',
  'messages',
  'tool_calls',
  'git_commits',
  'git_prs_created',
];
const TOKENS = [
  'published_billable_tokens',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
];

/** The first metric is drawn. */
const DIMENSIONS = {
  team: { path: '/teams', title: 'Teams', thing: 'Team', metrics: USED },
  tier: { path: '/tiers', title: 'Tiers of models', thing: 'Tier', metrics: TOKENS },
  model: { path: '/models', title: 'Models', thing: 'Model', metrics: TOKENS },
  delegation_level: { path: '/delegation', title: 'Levels of delegation', thing: 'Level', metrics: USED },
  language: {
    path: '/languages',
    title: 'Languages',
    thing: 'Language',
    metrics: ['published_language_files'],
  },
} as const;

const DRAWN_MAX = 5;

/** Each block of a dimension, the largest first, and the main number of each week. */
function dimensionPage(
  blocks: Blocks,
  dimension: keyof typeof DIMENSIONS,
  { filters }: PublishedRequest,
): Page {
  const { title, thing, metrics } = DIMENSIONS[dimension];
  const [main = ''] = metrics;
  const sizeOf = (name: string) => total(blocks.of(name, main), main).value ?? 0;
  const names = blocks.names.toSorted((a, b) => sizeOf(b) - sizeOf(a) || (a < b ? -1 : 1));
  const shown = metrics.filter((metric) => names.some((name) => blocks.of(name, metric).size > 0));
  const weeks = [...new Set(names.flatMap((name) => [...blocks.of(name, main).keys()]))].toSorted();
  const heading = `${title}, ${periodHeading(filters)}`;
  return {
    name: title,
    heading,
    sentence: [
      `${names.length} ${names.length === 1 ? 'group' : 'groups'} in ${weeks.length} ${weeks.length === 1 ? 'week' : 'weeks'}.`,
    ],
    sections: [
      {
        kind: 'figure',
        id: `by-${dimension.replaceAll('_', '-')}`,
        title,
        subtitle: 'Sums of the weeks in which the group was published alone, and people a week on average',
        chart: chartOf(
          titleOf(main),
          names.slice(0, DRAWN_MAX),
          (name, week) => blocks.of(name, main).get(week)?.value ?? null,
          weeks,
          true,
        ),
        table: {
          columns: [
            { title: thing },
            { title: 'Weeks', align: 'end' },
            { title: 'People', align: 'end' },
            ...shown.map((metric) => ({ title: titleOf(metric), align: 'end' as const })),
          ],
          rows: names.map((name) => [
            text(name, name.startsWith(OTHERS)),
            text(String(blocks.of(name, PEOPLE).size)),
            mean(blocks.of(name, PEOPLE)),
            ...shown.map((metric) => total(blocks.of(name, metric), metric)),
          ]),
        },
        tableIs: 'shown',
        results: [blocks.result],
        notes: [['A group of too few people is among the others of its week.']],
      },
    ],
  };
}

function text(value: string, isMuted = false): Cell {
  return { kind: 'text', text: value, isMuted };
}

function chartOf(
  title: string,
  groups: readonly string[],
  valueOf: (group: string, week: string) => number | null,
  weeks: readonly string[],
  named: boolean,
) {
  const parts = groups.flatMap((group) =>
    weeks.map((bucket) => ({ bucket, group, value: valueOf(group, bucket), isOpen: false })),
  );
  return stacks(parts, { label: `${title} per week, one bar per week`, groups, wide: true, named });
}

/** Which weeks of the period are not published, and which were restated since. */
async function notesOf(warehouse: Warehouse, { filters, now }: PublishedRequest): Promise<Phrase[]> {
  const { orgId, from, until } = filters;
  const isIn = (week: string) => week >= from && week <= until;
  const waiting = await runReads(warehouse, waitingWeeks(orgId, until, now));
  const restated = [...(await runReads(warehouse, restatedWeeks(orgId)))].filter(isIn).toSorted();
  const named = (weeks: readonly string[]) =>
    weeks.map((week) => (isDay(week) ? dayName(week, until) : week)).join(', ');
  const open = waiting.filter(({ week, isTooSmall }) => isIn(week) && !isTooSmall).map(({ week }) => week);
  const small = waiting.filter(({ week, isTooSmall }) => isIn(week) && isTooSmall).map(({ week }) => week);
  return [
    ...(restated.length === 0
      ? []
      : [[`Restated since: the weeks of ${named(restated)}. Their numbers are those that were published.`]]),
    ...(open.length === 0 ? [] : [[`Not published yet: the weeks of ${named(open)}.`]]),
    ...(small.length === 0
      ? []
      : [[`Not published, because too few people were active: the weeks of ${named(small)}.`]]),
  ];
}
