import { completeWeeks } from '../data/compare.ts';
import type { Filters } from '../data/filters.ts';
import type { PageReader } from '../data/reader.ts';
import { bucketBars } from '../figures/bucket-bars.ts';
import { bucketLines } from '../figures/bucket-lines.ts';
import { headline } from '../figures/headline.ts';
import { languagesOfPeople } from '../figures/languages-of-people.ts';
import { comparison } from '../figures/opening.ts';
import { ranking } from '../figures/ranking.ts';
import type { Figure, Headline, Page, Phrase } from '../page/page.ts';
import { periodHeading } from '../words/spans.ts';
import type { PageKind } from './page-kind.ts';

const WEEKS = 13;

/** Files, commits and pull requests; what they cost in credits; and the languages. */
export const output: PageKind = {
  path: '/output',
  name: 'Output',
  async build(reader) {
    const created = await headline(reader, {
      metric: 'files_created',
      title: 'Files created',
      format: 'compact',
    });
    const edited = await headline(reader, {
      metric: 'files_edited',
      title: 'Files edited',
      format: 'compact',
    });
    const commits = await headline(reader, { metric: 'git_commits', title: 'Commits', format: 'compact' });
    const requests = await headline(reader, {
      metric: 'git_prs_created',
      title: 'Pull requests',
      format: 'compact',
    });
    return {
      name: 'Output',
      heading: `Output, ${periodHeading(reader.filters)}`,
      sentence: sentenceOf({ commits, requests, created, edited }, reader.filters),
      sections: [
        { kind: 'headlines', headlines: [created, edited, commits, requests] },
        { kind: 'pair', figures: [await filesPerWeek(reader), await filesPerSession(reader)] },
        {
          kind: 'pair',
          figures: [
            await perWeek(reader, 'git_commits', 'Commits'),
            await perWeek(reader, 'git_prs_created', 'Pull requests'),
          ],
        },
        {
          kind: 'pair',
          figures: [
            await creditsPer(reader, 'tokens_per_commit', 'commit'),
            await creditsPer(reader, 'tokens_per_pr', 'pull request'),
          ],
        },
        { kind: 'pair', figures: [await languagesOfPeople(reader), await languagesOfFiles(reader)] },
      ],
      basis: commits.results[0]?.basis,
    } satisfies Page;
  },
};

function weeksOf({ filters }: PageReader) {
  return { grain: 'week', period: completeWeeks(filters.until, WEEKS) } as const;
}

function filesPerWeek(reader: PageReader): Promise<Figure> {
  return bucketBars(reader, {
    ...weeksOf(reader),
    metrics: [
      { metric: 'files_edited', name: 'edited' },
      { metric: 'files_created', name: 'created' },
    ],
    id: 'files-per-week',
    title: 'Files per week',
    unit: 'Files',
    format: 'count',
  });
}

function perWeek(reader: PageReader, metric: string, title: string): Promise<Figure> {
  return bucketBars(reader, {
    ...weeksOf(reader),
    metrics: [{ metric, name: title.toLowerCase() }],
    id: `${title.toLowerCase().replaceAll(' ', '-')}-per-week`,
    title: `${title} per week`,
    unit: title,
    format: 'count',
  });
}

function filesPerSession(reader: PageReader): Promise<Figure> {
  return bucketLines(reader, {
    ...weeksOf(reader),
    metrics: [{ metric: 'files_per_session', name: 'files per session' }],
    id: 'files-per-session',
    title: 'Files per session',
    unit: 'Files created or edited',
    format: 'decimal',
  });
}

function creditsPer(reader: PageReader, metric: string, thing: string): Promise<Figure> {
  return bucketLines(reader, {
    ...weeksOf(reader),
    metrics: [{ metric, name: `credits per ${thing}` }],
    id: `credits-per-${thing.replaceAll(' ', '-')}`,
    title: `Credits per ${thing}`,
    unit: 'Credits',
    format: 'compact',
    notes: [[`All credits count, including those of people without a ${thing}.`]],
  });
}

function languagesOfFiles(reader: PageReader): Promise<Figure> {
  return ranking(reader, {
    metric: 'published_language_files',
    by: 'language',
    id: 'files-by-language',
    title: 'Files by language',
    unit: 'Files, as the service publishes them',
    thing: 'Language',
    amount: 'Files',
    format: 'count',
  });
}

type Sums = Readonly<Record<'commits' | 'requests' | 'created' | 'edited', Headline>>;

function sentenceOf({ commits, requests, created, edited }: Sums, filters: Filters): Phrase {
  const { number } = commits;
  if (number.value === null) return ['No day of this period is stored, so no output is known.'];
  return [
    { kind: 'strong', parts: [number, ' commits'] },
    ...comparison(commits, filters, 'fewer'),
    ', and ',
    { kind: 'strong', parts: [requests.number, ' pull requests'] },
    '. ',
    created.number,
    ' files were created and ',
    edited.number,
    ' edited.',
  ];
}
