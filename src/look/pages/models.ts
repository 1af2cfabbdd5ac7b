import { headline } from '../figures/headline.ts';
import { readTrack } from '../figures/on-track.ts';
import { comparison, doubtedDays, standing, teamWords } from '../figures/opening.ts';
import { drawFigure, drawPair, type FigureSpec, THINKING_SHARE } from '../figures/over-time.ts';
import { trackFigure } from '../figures/track-table.ts';
import type { Result } from '../numbers.ts';
import { type Headline, orNotKept, type Page, type Phrase } from '../page.ts';
import type { PageReader } from '../reader.ts';
import { asSentence, periodHeading, periodWords } from '../words.ts';
import type { PageKind } from './page-kind.ts';

const NO_PRICES = 'No prices are loaded: `daywalk prices load prices.csv`.';

function perWeek(by: 'model' | 'tier'): FigureSpec {
  return {
    draw: 'bars',
    id: `credits-by-${by}`,
    title: `Credits by ${by}, per week`,
    unit: 'Million, as published',
    metric: 'published_billable_tokens',
    by,
    grain: 'week',
    format: 'compact',
    divisor: 1e6,
  };
}

const MODELS: FigureSpec = {
  draw: 'ranking',
  id: 'models',
  title: 'Models',
  unit: 'Credits as published',
  metric: 'published_billable_tokens',
  by: 'model',
  thing: 'Model',
  amount: 'Credits, M',
  format: 'millions',
};

const CACHE: FigureSpec = {
  draw: 'lines',
  id: 'cache-share',
  title: 'Cache share',
  unit: 'Per cent of input tokens',
  metrics: [{ metric: 'cache_share', name: 'cache' }],
  grain: 'week',
  format: 'share',
  percent: true,
  zero: true,
};

const COST_PER_USER: FigureSpec = {
  draw: 'lines',
  id: 'cost-per-active-user',
  title: 'Cost per active user, per week',
  unit: 'Cost',
  metrics: [{ metric: 'cost_per_active_user', name: 'per user' }],
  grain: 'week',
  format: 'money',
  zero: true,
};

const COST_BY_TEAM = {
  draw: 'bars',
  id: 'cost-by-team',
  title: 'Cost by team, per month',
  unit: 'Cost',
  metric: 'cost',
  by: 'team',
  grain: 'month',
  months: 12,
  format: 'money',
  wide: true,
} as const satisfies FigureSpec;

/** Which models are used, and what it costs. */
export const models: PageKind = {
  path: '/models',
  name: 'Models and cost',
  async build(reader) {
    const share = (metric: string, title: string) => headline(reader, { metric, title, format: 'share' });
    const money = (metric: string, title: string) => headline(reader, { metric, title, format: 'money' });
    const cost = await money('cost', 'Cost');
    const perUser = await money('cost_per_active_user', 'Cost per active user');
    const thinking = await share('thinking_share', 'Thinking share');
    const cache = await share('cache_share', 'Cache share');
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
        await drawPair(reader, perWeek('model'), MODELS),
        await drawPair(reader, perWeek('tier'), THINKING_SHARE),
        await drawPair(reader, CACHE, ofCost(COST_PER_USER, cost)),
        await drawFigure(
          reader,
          ofCost({ ...COST_BY_TEAM, ...(lacksPrices(cost) && { empty: NO_PRICES }) }, cost),
        ),
        trackFigure(reader, await readTrack(reader)),
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
  if (credits.number.value === null)
    return [orNotKept(now, `Nothing is stored of ${periodWords(filters)}.`), ...rest];
  const used: Phrase = [
    teamWords(filters),
    { kind: 'strong', parts: [credits.number, ' credits'] },
    ...comparison(credits, filters),
  ];
  if (cost.number.value === null) {
    const why = lacksPrices(cost) ? NO_PRICES : asSentence(cost.number.why ?? 'it has no value');
    return [...used, `. What they cost is not known. ${why}`, ...rest];
  }
  // A number and its unit stay on one line.
  const unit = cost.unit === undefined ? '' : `\u00a0${cost.unit}`;
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
  return results[0]?.unit === 'currency' && results[0].basis.days.expected > 0;
}

/** A figure of costs, whose unit is the currency. */
function ofCost(spec: FigureSpec, { unit }: Headline): FigureSpec {
  return { ...spec, unit: unit ?? spec.unit };
}
