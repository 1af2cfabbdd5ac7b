import type { PageReader } from '../data/reader.ts';
import type { Result } from '../data/result.ts';
import { coverage } from '../figures/coverage.ts';
import { mainNumbers } from '../figures/main-numbers.ts';
import { doubtedDays, openDays } from '../figures/open-days.ts';
import { comparison, standing, teamWords } from '../figures/opening.ts';
import { overTime } from '../figures/over-time.ts';
import { recentCredits } from '../figures/recent-days.ts';
import { teamTable } from '../figures/team-table.ts';
import type { Headline, Page, Phrase, Section } from '../page/page.ts';
import { nounFor } from '../words/nouns.ts';
import { duringWords, periodHeading, periodWords } from '../words/spans.ts';
import type { PageKind } from './page-kind.ts';

/** What a director reads first. */
export const overview: PageKind = {
  path: '/',
  name: 'Overview',
  async build(reader) {
    const { filters } = reader;
    const { credits, users, sessions, commits } = await mainNumbers(reader);
    const doubted = await doubtedDays(reader);
    return {
      name: 'Overview',
      heading: periodHeading(filters),
      sentence: sentenceOf(reader, { credits, users, doubted }),
      sections: [
        { kind: 'headlines', headlines: [credits, users, sessions, commits] },
        await recentCredits(reader),
        await modelsAndTeams(reader),
        await coverage(reader, {
          stream: 'activity',
          id: 'coverage',
          title: 'What these numbers stand on',
        }),
        await openDays(reader, doubted),
      ],
    } satisfies Page;
  },
};

function sentenceOf(
  { filters }: PageReader,
  { credits, users, doubted }: { credits: Headline; users: Headline; doubted: Result },
): Phrase {
  const [now] = credits.results;
  if (now === undefined) return [];
  const rest = standing(now, doubted);
  if (credits.number.value === null && users.number.value === null) {
    return [`Nothing is stored of ${periodWords(filters)}.`, ...rest];
  }
  if (users.number.value === 0) {
    return [`${teamWords(filters)}Nobody was active ${duringWords(filters)}.`, ...rest];
  }
  return [
    teamWords(filters),
    { kind: 'strong', parts: [credits.number, ` ${nounFor(credits.number, 'credit', 'credits')}`] },
    ...comparison(credits, filters),
    ', by ',
    { kind: 'strong', parts: [users.number, ` ${nounFor(users.number, 'person', 'people')}`] },
    '.',
    ...rest,
  ];
}

async function modelsAndTeams(reader: PageReader): Promise<Section> {
  const models = await overTime(reader, {
    draw: 'bars',
    metric: 'published_billable_tokens',
    by: 'model',
    grain: 'week',
    id: 'credits-by-model',
    title: 'Credits by model, per week',
    unit: 'Million',
    format: 'compact',
    divisor: 1e6,
  });
  // One team beside itself says nothing.
  if (reader.filters.team !== undefined) return models;
  return { kind: 'pair', figures: [models, await teamTable(reader)] };
}
