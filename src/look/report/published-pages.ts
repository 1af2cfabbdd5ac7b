import type { Warehouse } from '../../port/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import { OTHERS, WEEK_DIMENSIONS } from '../../weeks/index.ts';
import { stacks } from '../charts/bars.ts';
import { noNumber } from '../numbers.ts';
import { emptyFigure, type Figure, type Page, type Phrase } from '../page.ts';
import { periodHeading } from '../words.ts';
import {
  type Blocks,
  blocksReader,
  formatOf,
  METRICS,
  mean,
  notesOf,
  PEOPLE,
  type PublishedRequest,
  ratiosFigure,
  text,
  titleOf,
  total,
} from './published-numbers.ts';

/** A page of a report. */
export interface ReportPage {
  /** Its path in the dashboard, by which pages link to each other. */
  readonly path: string;
  readonly page: Page;
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
    const name = team ?? UNASSIGNED;
    return [{ path: '/', page: mainPage(await read('team'), name, request, notes) }];
  }
  const pages = [{ path: '/', page: mainPage(await read('total'), '', request, notes) }];
  for (const dimension of WEEK_DIMENSIONS) {
    const blocks = await read(dimension);
    if (blocks.names.length > 0)
      pages.push({ path: DIMENSIONS[dimension].path, page: dimensionPage(blocks, dimension, request) });
  }
  return pages;
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

/** The numbers of a week. */
export const WEEK_COLUMNS = [
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
    results: [blocks.result],
  };
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
        results: [blocks.result],
        notes: [['A group of too few people is among the others of its week.']],
      },
    ],
  };
}

function chartOf(
  title: string,
  groups: readonly string[],
  numberOf: (group: string, week: string) => number | null,
  weeks: readonly string[],
  named: boolean,
) {
  const parts = groups.flatMap((group) =>
    weeks.map((bucket) => ({ bucket, group, value: numberOf(group, bucket), isOpen: false })),
  );
  return stacks(parts, { label: `${title} per week, one bar per week`, groups, wide: true, named });
}
