import { UNASSIGNED } from '../../metrics/question.ts';
import type { PersonFacts } from '../data/person.ts';
import { linkTo } from '../page/links.ts';
import type { Cell, Figure } from '../page/page.ts';

/** Who a user is: every email address, name and team so far, with its days. */
export function personFacts(userId: string, { emails, teams, results }: PersonFacts): Figure {
  return {
    kind: 'figure',
    id: 'who',
    title: 'Who this is',
    subtitle: 'All stored days; addresses by the days they were seen, teams by the days they apply',
    table: {
      columns: [{ title: '' }, { title: '' }, { title: 'From', align: 'end' }, { title: 'To', align: 'end' }],
      rows: [
        [plain('ID'), { kind: 'text', text: userId, isCode: true }, muted('–'), muted('–')],
        ...(emails.length === 0 ? [[plain('Email'), muted('none is stored'), muted('–'), muted('–')]] : []),
        ...emails.map(({ email, first, last }) => [plain('Email'), plain(email), plain(first), plain(last)]),
        ...(teams.length === 0 ? [[plain('Team'), muted(UNASSIGNED), muted('–'), muted('–')]] : []),
        ...teams.flatMap(({ name, team, from, until }) => {
          const days = [plain(from), until === null ? muted('no end') : plain(until)];
          return [
            ...(name === null ? [] : [[plain('Name'), plain(name), ...days]]),
            [plain('Team'), team === null ? muted(UNASSIGNED) : linkTo('/teams', team, team), ...days],
          ];
        }),
      ],
    },
    tableIs: 'shown',
    results,
  };
}

function plain(text: string): Cell {
  return { kind: 'text', text };
}

function muted(text: string): Cell {
  return { kind: 'text', text, isMuted: true };
}
