import type { PageReader } from '../data/reader.ts';
import { lastReadinessWalk, type ReadinessWalk, readinessTotals } from '../data/readiness.ts';
import type { Result } from '../data/result.ts';
import { emptyFigure } from '../figures/empty-figure.ts';
import { failingCriteria, failureReasons } from '../figures/failing-criteria.ts';
import { headline } from '../figures/headline.ts';
import { factOf, withResult } from '../figures/listing.ts';
import { readinessHistory, repositories } from '../figures/repositories.ts';
import type { Headline, Page, Phrase } from '../page/page.ts';
import { instantSentence } from '../words/instants.ts';
import { nounFor } from '../words/nouns.ts';
import { dayName } from '../words/spans.ts';
import { drawFigure, type FigureSpec } from './draw-figure.ts';
import type { PageKind } from './page-kind.ts';

const NAME = 'Readiness';
const METRIC = { metric: 'readiness_score', title: 'Mean score' } as const;

const SCORE: FigureSpec = {
  draw: 'lines',
  id: 'readiness-score',
  title: 'Score per week',
  unit: 'Per cent, mean of the latest reports at the end of each week',
  metrics: [{ metric: METRIC.metric, name: METRIC.title }],
  grain: 'week',
  weeks: 26,
  format: 'share',
  percent: true,
};

/** How ready the repositories are for agents, and what they lack. */
export const readiness: PageKind = {
  path: '/readiness',
  name: NAME,
  async build(reader) {
    const { until } = reader.filters;
    const walk = await lastReadinessWalk(reader);
    const totals = await readinessTotals(reader);
    const heading = `${NAME} on ${dayName(until)} ${until.slice(0, 4)}`;
    if (walk === null || walk.at === null || factOf(totals, 0, 'reports').value === 0) {
      return { name: NAME, heading, ...nothingYet(walk) };
    }
    const score = await headline(reader, { ...METRIC, format: 'share' });
    return {
      name: NAME,
      heading,
      sentence: [...sentenceOf(score, totals), ...asOf(walk), ...teamOf(reader)],
      sections: [
        { kind: 'headlines', headlines: [score] },
        { kind: 'pair', figures: [await drawFigure(reader, SCORE), await failingCriteria(reader)] },
        withResult(await repositories(reader), totals),
        ...(reader.viewer.audience === 'public' ? [] : [await failureReasons(reader)]),
        await readinessHistory(reader),
      ],
      basis: totals.basis,
    } satisfies Page;
  },
};

function nothingYet(walk: ReadinessWalk | null): Pick<Page, 'sentence' | 'sections'> {
  if (walk !== null && walk.at !== null)
    return { sentence: ['No report was created up to this day.', ...asOf(walk)], sections: [] };
  const figure = { id: 'repositories', title: 'Repositories', unit: 'Latest report of each' };
  return {
    sentence: ['No readiness reports are stored yet.'],
    sections: [
      emptyFigure(figure, 'The reports were never pulled completely: `daywalk run --streams readiness`'),
    ],
  };
}

function sentenceOf({ number }: Headline, totals: Result): Phrase {
  const count = (column: string) => factOf(totals, 0, column);
  const [repos, failing] = [count('repositories'), count('failing')];
  return [
    { kind: 'strong', parts: [number] },
    ' is the mean score of ',
    { kind: 'strong', parts: [repos, nounFor(repos, ' repository', ' repositories')] },
    '. ',
    failing,
    ' of ',
    count('criteria'),
    nounFor(failing, ' criteria fails', ' criteria fail'),
    ' in at least one repository.',
  ];
}

function asOf({ at, state }: ReadinessWalk): Phrase {
  if (at === null) return [];
  const walked = ` The last complete walk of the reports was on ${instantSentence(at)}.`;
  if (state === 'failed' || state === 'pending') return [walked, ' The newest walk did not reach the end.'];
  return state === 'doubted'
    ? [walked, ' It lacked reports that are stored; they are kept until that is confirmed.']
    : [walked];
}

function teamOf({ filters }: PageReader): Phrase {
  return filters.team === undefined
    ? []
    : [' Reports are about repositories, so this page is for the whole organization.'];
}
