import { namelessOf } from '../audience/audience.ts';
import type { PageReader } from '../data/reader.ts';
import { viewedGroups } from '../data/viewed-groups.ts';
import { headline } from '../figures/headline.ts';
import { comparison } from '../figures/opening.ts';
import { teamsCompared } from '../figures/teams-compared.ts';
import { shareOf, wholeSumOf } from '../page/numbers.ts';
import type { Page, Phrase } from '../page/page.ts';
import { nounFor } from '../words/nouns.ts';
import { periodHeading } from '../words/spans.ts';
import type { PageKind } from './page-kind.ts';

/** Every team beside the others. */
export const teams: PageKind = {
  path: '/teams',
  name: 'Teams',
  async build(reader) {
    const figure = await teamsCompared(reader);
    return {
      name: 'Teams',
      heading: `Teams, ${periodHeading(reader.filters)}`,
      sentence: await sentenceOf(reader),
      sections: [figure],
      basis: figure.results[0]?.basis,
    } satisfies Page;
  },
};

async function sentenceOf(reader: PageReader): Promise<Phrase> {
  const credits = await headline(reader, { metric: 'billable_tokens', title: 'Credits', format: 'compact' });
  if (credits.number.value === null)
    return ['No day of this period is stored, so nothing is known of any team.'];
  const result = await reader.ask({ metric: 'billable_tokens', title: 'Credits by team', by: ['team'] });
  const groups = viewedGroups(reader, result, { group: 'team', format: 'compact', most: 500 });
  const whole = wholeSumOf(
    groups.map(({ total }) => total),
    'compact',
  );
  const first = groups.find(({ name, isOthers }) => !isOthers && name !== namelessOf('team'));
  return [
    { kind: 'strong', parts: [credits.number, nounFor(credits.number, ' credit', ' credits')] },
    ...comparison(credits, reader.filters),
    '.',
    ...(first === undefined || reader.filters.team !== undefined
      ? []
      : [
          ` The largest team is ${first.name}, with `,
          first.total,
          ', ',
          shareOf(first.total, whole),
          ' of all.',
        ]),
  ];
}
