import { UsageError } from '../../core/errors.ts';
import { findTeam, UNASSIGNED } from '../../metrics/question.ts';
import { isRestricted } from '../audience/audience.ts';
import { readerOfTeam } from '../data/narrow.ts';
import type { PageReader } from '../data/reader.ts';
import { mainNumbers } from '../figures/main-numbers.ts';
import { comparison } from '../figures/opening.ts';
import { recentCredits } from '../figures/recent-days.ts';
import { teamBudget } from '../figures/team-budget.ts';
import { teamPeople } from '../figures/team-people.ts';
import type { Headline, Page, Phrase } from '../page/page.ts';
import { nounFor } from '../words/nouns.ts';
import { duringWords, periodHeading } from '../words/spans.ts';
import { drawFigure } from './draw-figure.ts';
import type { PageKind } from './page-kind.ts';
import { THINKING_SHARE } from './thinking-share.ts';

/** One team, or the people without one. */
export const team: PageKind = {
  path: '/teams/:subject',
  async build(everybody, { subject }) {
    if (subject === undefined)
      throw new UsageError('no team is named', { hint: 'the page of teams lists them' });
    const found = await findTeam(everybody.warehouse, everybody.filters.orgId, subject);
    const reader = readerOfTeam(everybody, found);
    const { credits, users, sessions, commits } = await mainNumbers(reader);
    const name = found ?? UNASSIGNED;
    return {
      name,
      heading: `${name}, ${periodHeading(reader.filters)}`,
      sentence: sentenceOf(reader, credits, users),
      sections: [
        { kind: 'headlines', headlines: [credits, users, sessions, commits] },
        await recentCredits(reader),
        {
          kind: 'pair',
          figures: [await drawFigure(reader, THINKING_SHARE), await teamBudget(reader, found)],
        },
        ...(isRestricted(reader.viewer) ? [] : [await teamPeople(reader)]),
      ],
      basis: credits.results[0]?.basis,
    } satisfies Page;
  },
};

function sentenceOf({ filters }: PageReader, credits: Headline, users: Headline): Phrase {
  if (credits.number.value === null) return [`Nothing is stored ${duringWords(filters)}.`];
  if (users.number.value === 0) return [`Nobody of the team was active ${duringWords(filters)}.`];
  return [
    { kind: 'strong', parts: [credits.number, nounFor(credits.number, ' credit', ' credits')] },
    ...comparison(credits, filters),
    ', by ',
    { kind: 'strong', parts: [users.number, nounFor(users.number, ' person', ' people')] },
    '.',
  ];
}
