import { isDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { readerOfUser } from '../data/narrow.ts';
import { type PersonFacts, readPerson } from '../data/person.ts';
import type { PageReader } from '../data/reader.ts';
import { changesTable } from '../figures/changes-table.ts';
import { headline } from '../figures/headline.ts';
import { comparison } from '../figures/opening.ts';
import { personFacts } from '../figures/person-facts.ts';
import { personLanguages } from '../figures/person-languages.ts';
import { recentCredits } from '../figures/recent-days.ts';
import type { Headline, Page, Phrase } from '../page/page.ts';
import { nounFor } from '../words/nouns.ts';
import { dayName, duringWords, periodHeading } from '../words/spans.ts';
import { drawFigure } from './draw-figure.ts';
import { refuseOthers } from './managers-only.ts';
import type { PageKind } from './page-kind.ts';
import { THINKING_SHARE } from './thinking-share.ts';

const USES = [
  { metric: 'tool_calls', title: 'Tool calls', format: 'count' },
  { metric: 'mcp_calls', title: 'MCP calls', format: 'count' },
  { metric: 'skill_calls', title: 'Skill calls', format: 'count' },
  { metric: 'slash_commands', title: 'Slash commands', format: 'count' },
  { metric: 'hooks', title: 'Hooks', format: 'count' },
  { metric: 'files_created', title: 'Files created', format: 'count' },
  { metric: 'files_edited', title: 'Files edited', format: 'count' },
] as const;

/** One person, in all teams. */
export const person: PageKind = {
  path: '/people/:subject',
  async build(everybody, { subject }) {
    refuseOthers(everybody, 'the page of a person');
    if (subject === undefined) {
      throw new UsageError('no user is named', { hint: 'the page of people has the ID of each user' });
    }
    const reader = readerOfUser(everybody, subject);
    const facts = await readPerson(reader, subject);
    const credits = await headline(reader, {
      metric: 'billable_tokens',
      title: 'Credits',
      format: 'compact',
    });
    const others = [
      await headline(reader, { metric: 'sessions', title: 'Sessions', format: 'count' }),
      await headline(reader, { metric: 'git_commits', title: 'Commits', format: 'count' }),
      await headline(reader, { metric: 'git_prs_created', title: 'Pull requests', format: 'count' }),
    ];
    return {
      name: nameOf(facts) ?? subject,
      heading: `${nameOf(facts) ?? subject}, ${periodHeading(reader.filters)}`,
      sentence: sentenceOf(reader, credits, facts),
      sections: [
        { kind: 'headlines', headlines: [credits, ...others] },
        await recentCredits(reader),
        {
          kind: 'pair',
          figures: [
            await changesTable(reader, { id: 'use', title: 'Tools and files', metrics: USES }),
            await personLanguages(reader, subject),
          ],
        },
        { kind: 'pair', figures: [await drawFigure(reader, THINKING_SHARE), personFacts(subject, facts)] },
      ],
      basis: credits.results[0]?.basis,
    } satisfies Page;
  },
};

function nameOf({ teams, emails }: PersonFacts): string | undefined {
  return teams.find(({ name }) => name !== null)?.name ?? emails[0]?.email;
}

function sentenceOf(
  { filters }: PageReader,
  credits: Headline,
  { firstActiveOn, lastActiveOn }: PersonFacts,
): Phrase {
  const known = activeWords(firstActiveOn, lastActiveOn);
  if (credits.number.value === null) return [`Nothing is stored ${duringWords(filters)}. ${known}`];
  return [
    { kind: 'strong', parts: [credits.number, nounFor(credits.number, ' credit', ' credits')] },
    ...comparison(credits, filters),
    `. ${known}`,
  ];
}

function activeWords(first: string, last: string): string {
  if (!isDay(first) || !isDay(last)) return '';
  const until = `${dayName(last)} ${last.slice(0, 4)}`;
  return first === last
    ? `Active on ${until} only.`
    : `First active on ${dayName(first, last)}, last on ${until}.`;
}
