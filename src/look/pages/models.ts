import { completeWeeks, monthsUntil } from '../data/compare.ts';
import type { PageReader } from '../data/reader.ts';
import type { Result } from '../data/result.ts';
import { bucketLines } from '../figures/bucket-lines.ts';
import { WEEKS } from '../figures/bucket-words.ts';
import { budgets } from '../figures/budgets.ts';
import { headline } from '../figures/headline.ts';
import { doubtedDays } from '../figures/open-days.ts';
import { comparison, standing, teamWords } from '../figures/opening.ts';
import { ranking } from '../figures/ranking.ts';
import { stackedGroups } from '../figures/stacked-groups.ts';
import type { Figure, Headline, Page, Phrase } from '../page/page.ts';
import { sentenceOf } from '../words/sentences.ts';
import { periodHeading, periodWords } from '../words/spans.ts';
import type { PageKind } from './page-kind.ts';

const MONTHS = 12;
const NO_PRICES = 'No prices are loaded: `daywalk prices load prices.csv`.';

/** Which models are used, and what it costs. */
export const models: PageKind = {
  path: '/models',
  name: 'Models and cost',
  async build(reader) {
    const cost = await headline(reader, { metric: 'cost', title: 'Cost', format: 'money' });
    const perUser = await headline(reader, {
      metric: 'cost_per_active_user',
      title: 'Cost per active user',
      format: 'money',
    });
    const thinking = await headline(reader, {
      metric: 'thinking_share',
      title: 'Thinking share',
      format: 'share',
    });
    const cache = await headline(reader, { metric: 'cache_share', title: 'Cache share', format: 'share' });
    const credits = await headline(reader, {
      metric: 'billable_tokens',
      title: 'Credits',
      format: 'compact',
    });
    const doubted = await doubtedDays(reader);
    return {
      name: 'Models and cost',
      heading: `Models and cost, ${periodHeading(reader.filters)}`,
      sentence: opening(reader, { credits, cost, perUser, doubted }),
      sections: [
        { kind: 'headlines', headlines: [cost, perUser, thinking, cache] },
        { kind: 'pair', figures: [await perWeek(reader, 'model'), await ranked(reader)] },
        { kind: 'pair', figures: [await perWeek(reader, 'tier'), await thinkingShare(reader)] },
        { kind: 'pair', figures: [await cacheShare(reader), await costPerUser(reader, cost)] },
        await costByTeam(reader, cost),
        await budgets(reader),
      ],
    } satisfies Page;
  },
};

function opening(
  { filters }: PageReader,
  {
    credits,
    cost,
    perUser,
    doubted,
  }: { credits: Headline; cost: Headline; perUser: Headline; doubted: Result },
): Phrase {
  const [now] = credits.results;
  if (now === undefined) return [];
  const rest = standing(now, doubted);
  if (credits.number.value === null) return [`Nothing is stored of ${periodWords(filters)}.`, ...rest];
  const used: Phrase = [
    teamWords(filters),
    { kind: 'strong', parts: [credits.number, ' credits'] },
    ...comparison(credits, filters),
  ];
  if (cost.number.value === null) {
    const why = lacksPrices(cost) ? NO_PRICES : sentenceOf(cost.number.why ?? 'it has no value');
    return [...used, `. What they cost is not known. ${why}`, ...rest];
  }
  const unit = cost.unit === undefined ? '' : ` ${cost.unit}`;
  return [
    ...used,
    ', cost ',
    { kind: 'strong', parts: [cost.number, unit] },
    ...(perUser.number.value === null ? [] : [', ', perUser.number, `${unit} per active user`]),
    '.',
    ...rest,
  ];
}

/** True if the metric has no currency, because no price is valid in the period. */
function lacksPrices({ results }: Headline): boolean {
  return results[0]?.unit === 'currency';
}

function perWeek(reader: PageReader, by: 'model' | 'tier'): Promise<Figure> {
  return stackedGroups(reader, {
    metric: 'published_billable_tokens',
    by,
    grain: 'week',
    period: completeWeeks(reader.filters.until, WEEKS),
    id: `credits-by-${by}`,
    title: `Credits by ${by}, per week`,
    unit: 'Million, as published',
    format: 'compact',
    divisor: 1e6,
  });
}

function ranked(reader: PageReader): Promise<Figure> {
  return ranking(reader, {
    metric: 'published_billable_tokens',
    by: 'model',
    id: 'models',
    title: 'Models',
    unit: 'Credits as published',
    thing: 'Model',
    amount: 'Credits, M',
    format: 'millions',
  });
}

function thinkingShare(reader: PageReader): Promise<Figure> {
  return bucketLines(reader, {
    id: 'thinking-share',
    title: 'Thinking share',
    unit: 'Per cent of credits, on days whose primary model thinks',
    metrics: [{ metric: 'thinking_share', name: 'thinking' }],
    grain: 'week',
    period: completeWeeks(reader.filters.until, WEEKS),
    format: 'share',
    percent: true,
    zero: true,
  });
}

function cacheShare(reader: PageReader): Promise<Figure> {
  return bucketLines(reader, {
    id: 'cache-share',
    title: 'Cache share',
    unit: 'Per cent of input tokens',
    metrics: [{ metric: 'cache_share', name: 'cache' }],
    grain: 'week',
    period: completeWeeks(reader.filters.until, WEEKS),
    format: 'share',
    percent: true,
    zero: true,
  });
}

function costPerUser(reader: PageReader, cost: Headline): Promise<Figure> {
  return bucketLines(reader, {
    id: 'cost-per-active-user',
    title: 'Cost per active user, per week',
    unit: cost.unit ?? 'Cost',
    metrics: [{ metric: 'cost_per_active_user', name: 'per user' }],
    grain: 'week',
    period: completeWeeks(reader.filters.until, WEEKS),
    format: 'money',
    zero: true,
  });
}

function costByTeam(reader: PageReader, cost: Headline): Promise<Figure> {
  return stackedGroups(reader, {
    metric: 'cost',
    by: 'team',
    grain: 'month',
    period: monthsUntil(reader.filters.until, MONTHS),
    id: 'cost-by-team',
    title: 'Cost by team, per month',
    unit: cost.unit ?? 'Cost',
    format: 'money',
    wide: true,
    ...(lacksPrices(cost) && { empty: NO_PRICES }),
  });
}
