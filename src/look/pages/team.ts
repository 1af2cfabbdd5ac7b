import { UsageError } from '../../core/errors.ts';
import { findTeam, UNASSIGNED } from '../../metrics/find-filters.ts';
import { isRestricted } from '../audience/audience.ts';
import { completeWeeks } from '../data/compare.ts';
import { readerOfTeam } from '../data/narrow.ts';
import type { PageReader } from '../data/reader.ts';
import { bucketLines } from '../figures/bucket-lines.ts';
import { WEEKS } from '../figures/bucket-words.ts';
import { headline } from '../figures/headline.ts';
import { comparison } from '../figures/opening.ts';
import { recentCredits } from '../figures/recent-days.ts';
import { teamBudget } from '../figures/team-budget.ts';
import { teamPeople } from '../figures/team-people.ts';
import type { Headline, Page, Phrase } from '../page/page.ts';
import { nounFor } from '../words/nouns.ts';
import { duringWords, periodHeading } from '../words/spans.ts';
import type { PageKind } from './page-kind.ts';

/** One team, or the people without one. */
export const team: PageKind = {
  path: '/teams/:subject',
  async build(everybody, { subject }) {
    if (subject === undefined)
      throw new UsageError('no team is named', { hint: 'the page of teams lists them' });
    const found = await findTeam(everybody.warehouse, everybody.filters.orgId, subject);
    const reader = readerOfTeam(everybody, found);
    const credits = await headline(reader, {
      metric: 'billable_tokens',
      title: 'Credits',
      format: 'compact',
    });
    const users = await headline(reader, { metric: 'active_users', title: 'Active users', format: 'count' });
    const sessions = await headline(reader, { metric: 'sessions', title: 'Sessions', format: 'compact' });
    const commits = await headline(reader, { metric: 'git_commits', title: 'Commits', format: 'compact' });
    const name = found ?? UNASSIGNED;
    return {
      name,
      heading: `${name}, ${periodHeading(reader.filters)}`,
      sentence: sentenceOf(reader, credits, users),
      sections: [
        { kind: 'headlines', headlines: [credits, users, sessions, commits] },
        await recentCredits(reader),
        { kind: 'pair', figures: [await thinkingShare(reader), await teamBudget(reader, found)] },
        ...(isRestricted(reader.viewer) ? [] : [await teamPeople(reader)]),
      ],
      basis: credits.results[0]?.basis,
    } satisfies Page;
  },
};

function thinkingShare(reader: PageReader) {
  return bucketLines(reader, {
    metrics: [{ metric: 'thinking_share', name: 'thinking' }],
    grain: 'week',
    period: completeWeeks(reader.filters.until, WEEKS),
    id: 'thinking-share',
    title: 'Thinking share',
    unit: 'Share of credits',
    format: 'share',
    percent: true,
  });
}

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
