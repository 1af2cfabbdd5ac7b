import { readActivePeople } from '../data/active-people.ts';
import { peopleOrder, sortPeople } from '../data/people-list.ts';
import type { PageReader } from '../data/reader.ts';
import type { Figure } from '../page/page.ts';
import { periodWords } from '../words/spans.ts';
import { emptyFigure } from './empty-figure.ts';
import { peopleTable } from './people-table.ts';

const NAME = { id: 'people', title: 'People', unit: 'Active people' } as const;
const ROWS_MAX = 100;

/** The people of a team with activity in it. It names people, so it is for managers only. */
export async function teamPeople(reader: PageReader): Promise<Figure> {
  const { people, results } = await readActivePeople(reader);
  if (people.length === 0) return emptyFigure(NAME, 'Nobody of the team was active in this period.', results);
  const sorted = sortPeople(people, peopleOrder(undefined)).slice(0, ROWS_MAX);
  return {
    kind: 'figure',
    id: NAME.id,
    title: NAME.title,
    subtitle: `${NAME.unit}, ${periodWords(reader.filters)}, most credits first`,
    table: peopleTable(sorted, { among: people }),
    tableIs: 'shown',
    results,
    notes: [
      ['Only days in this team count.'],
      ...(people.length > ROWS_MAX ? [['The page of people lists everybody.']] : []),
    ],
  };
}
