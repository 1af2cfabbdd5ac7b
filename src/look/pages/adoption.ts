import { stacks } from '../charts/bars.ts';
import { headline } from '../figures/headline.ts';
import { comparison, doubtedDays, standing, teamWords } from '../figures/opening.ts';
import { drawFigure, drawPair, type FigureSpec } from '../figures/over-time.ts';
import { cellOf, differenceOf, type MetricResult, type Result, type ShownNumber } from '../numbers.ts';
import {
  emptinessOf,
  emptyFigure,
  type Figure,
  type Headline,
  orNotKept,
  type Page,
  type Phrase,
} from '../page.ts';
import type { PageReader } from '../reader.ts';
import { bucketOpenness, bucketWords, completeWeeks, noWeek, WEEKS } from '../time-spans.ts';
import { duringWords, nounFor, periodHeading, periodWords } from '../words.ts';
import type { PageKind } from './page-kind.ts';

const PUBLISHED_USERS: FigureSpec = {
  draw: 'lines',
  id: 'published-users',
  title: 'Users by day, week and month as published',
  unit: 'Users',
  metrics: [
    { metric: 'published_mau', name: '30 days' },
    { metric: 'published_wau', name: '7 days' },
    { metric: 'published_dau', name: '1 day' },
  ],
  grain: 'date',
  days: 88,
  format: 'count',
  zero: true,
  wide: true,
  notes: [
    [
      'The service counts the distinct users of the days that end on each day. These numbers are never added.',
    ],
  ],
};

const CLIENTS: FigureSpec = {
  draw: 'lines',
  id: 'clients',
  title: 'Users by client as published',
  unit: 'Users',
  metric: 'published_client_dau',
  by: 'client',
  grain: 'date',
  days: 28,
  format: 'count',
  zero: true,
  notes: [['Someone who uses several clients counts in each, so clients do not add up.']],
};

const DELEGATION: FigureSpec = {
  draw: 'lines',
  id: 'delegation-levels',
  title: 'People by delegation level',
  unit: 'People',
  metric: 'active_users',
  by: 'delegation_level',
  grain: 'week',
  format: 'count',
  zero: true,
  notes: [['Someone with different levels in a week counts in each, so levels do not add up.']],
};

const AUTONOMY: FigureSpec = {
  draw: 'lines',
  id: 'autonomy',
  title: 'Autonomy ratio as published',
  unit: 'Tool calls per user turn',
  metrics: [
    { metric: 'published_autonomy_ratio_p90', name: '90th percentile' },
    { metric: 'published_autonomy_ratio_avg', name: 'average' },
    { metric: 'published_autonomy_ratio_p50', name: 'median' },
  ],
  grain: 'date',
  days: 88,
  format: 'decimal',
  notes: [['The ratio of a day is shown as published. Averages and percentiles are never combined.']],
};

const SESSIONS: FigureSpec = {
  draw: 'lines',
  id: 'sessions-per-user',
  title: 'Sessions per active user',
  unit: 'Sessions per user',
  metrics: [{ metric: 'sessions_per_active_user', name: 'sessions per user' }],
  grain: 'week',
  format: 'decimal',
  zero: true,
};

/** Who uses the platform, who began, and who does not. */
export const adoption: PageKind = {
  path: '/adoption',
  name: 'Adoption',
  async build(reader) {
    const count = (metric: string, title: string) => headline(reader, { metric, title, format: 'count' });
    const active = await count('active_users', 'Active users');
    const fresh = await count('new_users', 'New users');
    const licensed = await count('licensed_users', 'Licensed people');
    const inactive = await count('inactive_users', 'Inactive people');
    const doubted = await doubtedDays(reader);
    return {
      name: 'Adoption',
      heading: `Adoption, ${periodHeading(reader.filters)}`,
      sentence: sentenceOf(reader, { active, fresh, licensed, inactive }, doubted),
      sections: [
        { kind: 'headlines', headlines: [active, fresh, licensed, inactive] },
        await peoplePerWeek(reader),
        await drawFigure(reader, PUBLISHED_USERS),
        await drawPair(reader, CLIENTS, DELEGATION),
        await drawPair(reader, AUTONOMY, SESSIONS),
      ],
    } satisfies Page;
  },
};

interface People {
  readonly active: Headline;
  readonly fresh: Headline;
  readonly licensed: Headline;
  readonly inactive: Headline;
}

function sentenceOf(
  { filters }: PageReader,
  { active, fresh, licensed, inactive }: People,
  doubted: Result,
): Phrase {
  const [now] = active.results;
  if (now === undefined) return [];
  const rest = standing(now, doubted);
  const { number } = active;
  if (number.value === null)
    return [orNotKept(now, `Nothing is stored of ${periodWords(filters)}.`), ...rest];
  if (number.value === 0) {
    return [`${teamWords(filters)}Nobody was active ${duringWords(filters)}.`, ...rest];
  }
  return [
    teamWords(filters),
    { kind: 'strong', parts: [number, ` ${nounFor(number, 'person', 'people')}`] },
    ` ${nounFor(number, 'was', 'were')} active`,
    ...comparison(active, filters, 'fewer'),
    ...(fresh.number.value === null ? [] : [', ', fresh.number, ' of them for the first time']),
    '.',
    ...(inactive.number.value === null
      ? []
      : [
          ' ',
          inactive.number,
          ' of ',
          licensed.number,
          ` licensed people ${nounFor(inactive.number, 'was', 'were')} not active.`,
        ]),
    ...rest,
  ];
}

const WEEKS_NAME = {
  id: 'people-per-week',
  title: 'New, returning and inactive people',
  unit: 'People',
} as const;

const LOAD_PEOPLE: Phrase = [
  'Inactive people are not known. Load people with `daywalk people load people.csv`.',
];

/** People of each complete week: active ones, new or not, and licensed people without activity where people are loaded. */
async function peoplePerWeek(reader: PageReader): Promise<Figure> {
  const period = completeWeeks(reader.filters, WEEKS);
  if (period === null) return emptyFigure(WEEKS_NAME, noWeek(reader.filters));
  const ask = (metric: string, title: string) => reader.ask({ metric, title, by: ['week'], ...period });
  const active = await ask('active_users', 'Active users per week');
  const fresh = await ask('new_users', 'New users per week');
  const inactive = await ask('inactive_users', 'Inactive users per week');
  const results = [active, fresh, inactive];
  if (active.rows.every(({ value }) => value === null)) {
    return emptyFigure(WEEKS_NAME, emptinessOf(active), results);
  }
  const isListed = inactive.rows.some(({ value }) => value !== null);
  const weeks = active.rows.map(({ week }, index) =>
    weekOf(String(week), index, { active, fresh, inactive }),
  );
  const names = ['returning', 'new', ...(isListed ? ['inactive'] : [])];
  return {
    kind: 'figure',
    id: WEEKS_NAME.id,
    title: isListed ? WEEKS_NAME.title : 'New and returning people',
    subtitle: `${WEEKS_NAME.unit}, ${bucketWords('week', period, weeks.length)}`,
    chart: stacks(
      weeks.flatMap(({ week, isOpen, parts }) =>
        names.map((group, index) => ({ bucket: week, group, isOpen, value: parts[index]?.value ?? null })),
      ),
      { label: 'People per week, stacked bars', groups: names, wide: true },
    ),
    table: {
      columns: [
        { title: 'Week from' },
        ...['Active', 'Returning', 'New', ...(isListed ? ['Inactive'] : [])].map((title) => ({
          title,
          align: 'end' as const,
        })),
      ],
      rows: weeks
        .map(({ week, all, parts }) => [
          { kind: 'text' as const, text: week },
          all,
          ...parts.slice(0, names.length),
        ])
        .toReversed(),
    },
    isTableFolded: true,
    results,
    notes: [
      ['Weeks count people once each, so they do not add up to the people of a month.'],
      isListed
        ? ['Inactive people are licensed on the last day of the week and have no activity in it.']
        : LOAD_PEOPLE,
    ],
  };
}

interface Counted {
  readonly active: MetricResult;
  readonly fresh: MetricResult;
  readonly inactive: MetricResult;
}

/** One week: all active people, and the parts of its bar from the bottom up. */
function weekOf(week: string, row: number, { active, fresh, inactive }: Counted) {
  const open = bucketOpenness(active, 'week', week);
  const cell = (result: MetricResult) =>
    cellOf(result, row, 'count', { open, why: 'no day of the week is stored' });
  const all = cell(active);
  const isNew = cell(fresh);
  const parts: readonly ShownNumber[] = [differenceOf(all, isNew), isNew, cell(inactive)];
  return { week, isOpen: open !== null, all, parts };
}
