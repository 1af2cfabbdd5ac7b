import { FIRST_DAY, shiftDay } from '../../core/day.ts';
import type { PageReader } from '../data/reader.ts';
import { headline } from '../figures/headline.ts';
import { perDay } from '../figures/per-day.ts';
import type { Headline, Page, Phrase } from '../page/page.ts';
import { periodHeading } from '../words/spans.ts';
import type { PageKind } from './page-kind.ts';

const DAYS = 88;

/** What a director reads first. */
export const overview: PageKind = {
  path: '/',
  name: 'Overview',
  async build(reader) {
    const { filters } = reader;
    const credits = await headline(reader, {
      metric: 'billable_tokens',
      title: 'Credits',
      format: 'compact',
    });
    const users = await headline(reader, { metric: 'active_users', title: 'Active users', format: 'count' });
    const sessions = await headline(reader, { metric: 'sessions', title: 'Sessions', format: 'compact' });
    const commits = await headline(reader, { metric: 'git_commits', title: 'Commits', format: 'compact' });
    const from = shiftDay(filters.until, 1 - DAYS);
    const period = { from: from < FIRST_DAY ? FIRST_DAY : from, until: filters.until };
    return {
      name: 'Overview',
      heading: periodHeading(filters),
      sentence: sentenceOf(reader, credits, users),
      sections: [
        { kind: 'headlines', headlines: [credits, users, sessions, commits] },
        await perDay(reader, {
          metric: 'billable_tokens',
          id: 'credits-per-day',
          title: 'Credits per day',
          unit: 'Million',
          format: 'compact',
          divisor: 1e6,
          period,
        }),
      ],
    } satisfies Page;
  },
};

function sentenceOf(_reader: PageReader, credits: Headline, users: Headline): Phrase {
  return [
    { kind: 'strong', parts: [credits.number, ' credits'] },
    ', ',
    credits.change,
    ` against ${credits.against}, by `,
    { kind: 'strong', parts: [users.number, ' people'] },
    '.',
  ];
}
