import { UNASSIGNED } from '../../metrics/question.ts';
import { readIdlePeople } from '../data/idle-people.ts';
import type { PageReader } from '../data/reader.ts';
import { linkTo } from '../page/links.ts';
import type { Cell, Figure } from '../page/page.ts';
import { periodWords } from '../words/spans.ts';

/** More rows than this are not read; the page's query has all of them. */
const ROWS_MAX = 100;

/** The people with a seat and without activity. It names people, so it is for managers only. */
export async function idlePeople(reader: PageReader): Promise<Figure> {
  const { filters } = reader;
  const seats = await reader.ask({ metric: 'licensed_users', title: 'Licensed people' });
  const { people, result } = await readIdlePeople(reader);
  const isKnown = (seats.rows[0]?.value ?? null) !== null;
  const left = people.length - ROWS_MAX;
  return {
    kind: 'figure',
    id: 'seats-without-activity',
    title: 'Seats without activity',
    subtitle: `People listed on the last day, without a row in ${periodWords(filters)}; the longest idle first`,
    table: {
      columns: [{ title: 'Person' }, { title: 'Team' }, { title: 'Last active', align: 'end' }],
      rows: people
        .slice(0, ROWS_MAX)
        .map(({ person, name, team, userId, lastActiveOn }) => [
          userId === null ? plain(name ?? person) : linkTo('/people', userId, name ?? person),
          team === null ? muted(UNASSIGNED) : linkTo('/teams', team, team),
          lastActiveOn === null ? muted('never') : plain(lastActiveOn),
        ]),
    },
    tableIs: people.length > 12 ? 'folded' : 'shown',
    results: [result, seats],
    notes: left > 0 ? [[`The table has the first ${ROWS_MAX} people; the query has all of them.`]] : [],
    empty: emptyText(isKnown, people.length),
  };
}

function emptyText(isKnown: boolean, people: number): string | undefined {
  if (!isKnown) {
    return 'Nobody is known to have a seat. Load the people: `daywalk people load people.csv`';
  }
  return people === 0 ? 'Everybody who has a seat was active.' : undefined;
}

function plain(text: string): Cell {
  return { kind: 'text', text };
}

function muted(text: string): Cell {
  return { kind: 'text', text, isMuted: true };
}
