import { readActivePeople } from '../data/active-people.ts';
import { peopleOrder, searchPeople, slicePeople, sortPeople } from '../data/people-list.ts';
import type { PageReader } from '../data/reader.ts';
import { idlePeople } from '../figures/idle-people.ts';
import { doubtedDays } from '../figures/open-days.ts';
import { standing } from '../figures/opening.ts';
import { peopleTable } from '../figures/people-table.ts';
import { cellOf } from '../page/numbers.ts';
import type { Figure, Page, Phrase } from '../page/page.ts';
import { nounFor } from '../words/nouns.ts';
import { periodHeading, periodWords } from '../words/spans.ts';
import { refuseOthers } from './managers-only.ts';
import type { PageKind, PageParams } from './page-kind.ts';

const ROWS_PER_PAGE = 100;

/** Everybody with activity, to be searched and sorted; and everybody with a seat and without activity. */
export const people: PageKind = {
  path: '/people',
  name: 'People',
  async build(reader, params) {
    refuseOthers(reader, 'the page of people');
    const { figure, page, pages } = await listOf(reader, params);
    return {
      name: 'People',
      heading: `People, ${periodHeading(reader.filters)}`,
      sentence: await sentenceOf(reader),
      sections: [figure, await idlePeople(reader)],
      search: { label: 'people by ID, email address, name or team', text: params.search ?? '' },
      pager: { page, pages },
      basis: figure.results[0]?.basis,
    } satisfies Page;
  },
};

async function listOf(reader: PageReader, { search = '', sort, page = 1 }: PageParams) {
  const { people: all, results } = await readActivePeople(reader);
  const order = peopleOrder(sort);
  const found = sortPeople(searchPeople(all, search), order);
  const slice = slicePeople(found, page, ROWS_PER_PAGE);
  const figure: Figure = {
    kind: 'figure',
    id: 'people',
    title: 'Active people',
    subtitle: subtitleOf(reader, found.length, slice),
    table: peopleTable(slice.people, { among: all, order }),
    tableIs: 'shown',
    results,
    notes: [...(await withoutTeam(reader)), ['The team is that of the last active day in the period.']],
    empty: emptyText(search, { all: all.length, found: found.length }),
  };
  return { figure, page: slice.page, pages: slice.pages };
}

function subtitleOf(
  { filters }: PageReader,
  found: number,
  { page, pages }: { page: number; pages: number },
) {
  const period = periodWords(filters);
  if (pages === 1) return period;
  const first = (page - 1) * ROWS_PER_PAGE + 1;
  return `${period}; ${first} to ${Math.min(found, page * ROWS_PER_PAGE)} of ${found}`;
}

function emptyText(search: string, { all, found }: { all: number; found: number }): string | undefined {
  if (all === 0) return 'Nobody was active in this period.';
  return found === 0 ? `Nobody’s ID, email address, name or team contains “${search.trim()}”.` : undefined;
}

async function sentenceOf(reader: PageReader): Promise<Phrase> {
  const numberOf = async (metric: string, title: string) =>
    cellOf(await reader.ask({ metric, title }), 0, 'count', { why: 'no day of the period is stored' });
  const active = await numberOf('active_users', 'Active people');
  // Who was active on a missing day only looks inactive, so the sentence names such days.
  const now = await reader.ask({ metric: 'active_users', title: 'Active people' });
  const fresh = await numberOf('new_users', 'New people');
  const seats = await numberOf('licensed_users', 'Licensed people');
  const idle = await numberOf('inactive_users', 'Licensed people without activity');
  if (active.value === null)
    return ['No day of this period is stored, so nobody is known to have been active.'];
  return [
    { kind: 'strong', parts: [active, nounFor(active, ' person', ' people')] },
    nounFor(active, ' was active, ', ' were active, '),
    fresh,
    ' of them for the first time',
    ...(idle.value === null
      ? ['. Nobody is known to have a seat, so it is not known who was not.']
      : [
          '; ',
          idle,
          ' of ',
          seats,
          nounFor(idle, ' licensed people was not.', ' licensed people were not.'),
        ]),
    ...standing(now, await doubtedDays(reader)),
  ];
}

/** Who has no team does not appear in any team's numbers. */
async function withoutTeam(reader: PageReader): Promise<readonly Phrase[]> {
  if (reader.filters.team !== undefined) return [];
  const result = await reader.ask({ metric: 'active_users', title: 'Active people by team', by: ['team'] });
  const row = result.rows.findIndex(({ team, value }) => team === null && value !== null && value > 0);
  if (row < 0) return [];
  const number = cellOf(result, row, 'count');
  return [
    [
      number,
      nounFor(number, ' active person has', ' active people have'),
      ' no team: `daywalk people missing` lists them.',
    ],
  ];
}
