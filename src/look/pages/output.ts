import { headline } from '../figures/headline.ts';
import { comparison } from '../figures/opening.ts';
import { drawFigure, drawPair, type FigureSpec } from '../figures/over-time.ts';
import { cellOf } from '../numbers.ts';
import {
  emptinessOf,
  emptyFigure,
  type Figure,
  type Headline,
  orNotKept,
  type Page,
  type Phrase,
} from '../page.ts';
import type { Filters, PageReader } from '../reader.ts';
import { nounFor, periodHeading, periodWords } from '../words.ts';
import type { PageKind } from './page-kind.ts';

const FILES: FigureSpec = {
  draw: 'bars',
  id: 'files-per-week',
  title: 'Files per week',
  unit: 'Files',
  metrics: [
    { metric: 'files_edited', name: 'edited' },
    { metric: 'files_created', name: 'created' },
  ],
  grain: 'week',
  format: 'count',
};

const FILES_PER_SESSION: FigureSpec = {
  draw: 'lines',
  id: 'files-per-session',
  title: 'Files per session',
  unit: 'Files created or edited',
  metrics: [{ metric: 'files_per_session', name: 'files per session' }],
  grain: 'week',
  format: 'decimal',
};

const LANGUAGES: FigureSpec = {
  draw: 'ranking',
  id: 'files-by-language',
  title: 'Files by language',
  unit: 'Files, as the service publishes them',
  metric: 'published_language_files',
  by: 'language',
  thing: 'Language',
  amount: 'Files',
  format: 'count',
};

function perWeek(metric: string, title: string): FigureSpec {
  const name = title.toLowerCase();
  return {
    draw: 'bars',
    id: `${name.replaceAll(' ', '-')}-per-week`,
    title: `${title} per week`,
    unit: title,
    metrics: [{ metric, name }],
    grain: 'week',
    format: 'count',
  };
}

function creditsPer(metric: string, thing: string): FigureSpec {
  return {
    draw: 'lines',
    id: `credits-per-${thing.replaceAll(' ', '-')}`,
    title: `Credits per ${thing}`,
    unit: 'Credits',
    metrics: [{ metric, name: `credits per ${thing}` }],
    grain: 'week',
    format: 'compact',
    notes: [[`All credits count, including those of people without a ${thing}.`]],
  };
}

/** Files, commits and pull requests; what they cost in credits; and the languages. */
export const output: PageKind = {
  path: '/output',
  name: 'Output',
  async build(reader) {
    const count = (metric: string, title: string) => headline(reader, { metric, title, format: 'compact' });
    const created = await count('files_created', 'Files created');
    const edited = await count('files_edited', 'Files edited');
    const commits = await count('git_commits', 'Commits');
    const requests = await count('git_prs_created', 'Pull requests');
    return {
      name: 'Output',
      heading: `Output, ${periodHeading(reader.filters)}`,
      sentence: sentenceOf({ commits, requests, created, edited }, reader.filters),
      sections: [
        { kind: 'headlines', headlines: [created, edited, commits, requests] },
        await drawPair(reader, FILES, FILES_PER_SESSION),
        await drawPair(
          reader,
          perWeek('git_commits', 'Commits'),
          perWeek('git_prs_created', 'Pull requests'),
        ),
        await drawPair(
          reader,
          creditsPer('tokens_per_commit', 'commit'),
          creditsPer('tokens_per_pr', 'pull request'),
        ),
        { kind: 'pair', figures: [await languagesOfPeople(reader), await drawFigure(reader, LANGUAGES)] },
      ],
      basis: commits.results[0]?.basis,
    } satisfies Page;
  },
};

type Sums = Readonly<Record<'commits' | 'requests' | 'created' | 'edited', Headline>>;

function sentenceOf({ commits, requests, created, edited }: Sums, filters: Filters): Phrase {
  const { number } = commits;
  if (number.value === null)
    return [orNotKept(commits.results[0], 'No day of this period is stored, so no output is known.')];
  return [
    { kind: 'strong', parts: [number, nounFor(number, ' commit', ' commits')] },
    ...comparison(commits, filters, 'fewer'),
    ', and ',
    { kind: 'strong', parts: [requests.number, nounFor(requests.number, ' pull request', ' pull requests')] },
    '. ',
    created.number,
    nounFor(created.number, ' file was created and ', ' files were created and '),
    edited.number,
    ' edited.',
  ];
}

const PEOPLE_OF_LANGUAGES = {
  id: 'languages',
  title: 'Languages of people',
  unit: 'People who worked in a language',
} as const;
const LANGUAGES_MAX = 12;

/** How many people worked in each language. A person counts in each of them, so that the numbers do not add up. */
async function languagesOfPeople(reader: PageReader): Promise<Figure> {
  const result = await reader.ask({
    metric: 'language_users',
    title: PEOPLE_OF_LANGUAGES.title,
    by: ['language'],
  });
  const shown = result.rows
    .map((row, index) => ({ name: row['language'], number: cellOf(result, index, 'count') }))
    .flatMap(({ name, number }) => (typeof name === 'string' ? { name, number } : []))
    .toSorted((a, b) => (b.number.value ?? 0) - (a.number.value ?? 0) || (a.name < b.name ? -1 : 1));
  if (shown.length === 0) return emptyFigure(PEOPLE_OF_LANGUAGES, emptinessOf(result), [result]);
  const max = Math.max(0, ...shown.map(({ number }) => number.value ?? 0));
  const notes: Phrase[] = [
    ['A person counts in each language, so the numbers do not add up.'],
    ...(shown.length > LANGUAGES_MAX
      ? [['Further languages have fewer people; the query has all of them.']]
      : []),
  ];
  return {
    kind: 'figure',
    id: PEOPLE_OF_LANGUAGES.id,
    title: PEOPLE_OF_LANGUAGES.title,
    subtitle: `${PEOPLE_OF_LANGUAGES.unit}, ${periodWords(reader.filters)}`,
    table: {
      columns: [{ title: 'Language' }, { title: 'People', align: 'end' }, { title: '' }],
      rows: shown
        .slice(0, LANGUAGES_MAX)
        .map(({ name, number }) => [
          { kind: 'text', text: name },
          number,
          { kind: 'bar', value: number.value, max },
        ]),
    },
    results: [result],
    notes,
  };
}
