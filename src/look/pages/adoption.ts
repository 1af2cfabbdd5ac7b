import type { PageReader } from '../data/reader.ts';
import type { Result } from '../data/result.ts';
import { headline } from '../figures/headline.ts';
import { doubtedDays } from '../figures/open-days.ts';
import { comparison, standing, teamWords } from '../figures/opening.ts';
import { peoplePerWeek } from '../figures/people-per-week.ts';
import type { Headline, Page, Phrase } from '../page/page.ts';
import { nounFor } from '../words/nouns.ts';
import { duringWords, periodHeading, periodWords } from '../words/spans.ts';
import { drawFigure, drawPair, type FigureSpec } from './draw-figure.ts';
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
  if (number.value === null) return [`Nothing is stored of ${periodWords(filters)}.`, ...rest];
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
