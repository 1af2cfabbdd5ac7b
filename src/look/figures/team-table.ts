import { namelessOf } from '../audience/audience.ts';
import { periodBefore } from '../data/compare.ts';
import type { Group } from '../data/groups.ts';
import type { PageReader } from '../data/reader.ts';
import type { MetricResult } from '../data/result.ts';
import { viewedGroups } from '../data/viewed-groups.ts';
import { linkTo } from '../page/links.ts';
import { cellOf, changeOf, noNumber, type ShownNumber, wholeSumOf } from '../page/numbers.ts';
import type { Cell, Figure } from '../page/page.ts';
import { periodWords } from '../words/spans.ts';
import { emptyFigure } from './empty-figure.ts';
import { holeIn, NO_SPAN_BEFORE } from './hole.ts';
import { largestOf } from './ranking.ts';

const MOST = 12;
const NAME = { id: 'teams', title: 'Teams', unit: 'People and credits' } as const;

/** Each team with its people and credits, the largest first and people without a team last, against the span before. */
export async function teamTable(reader: PageReader): Promise<Figure> {
  const together = ['billable_tokens', 'active_users'];
  const spec = { together, title: 'Credits and people by team', by: ['team'] } as const;
  const credits = await reader.ask({ ...spec, metric: 'billable_tokens' });
  if (credits.rows.every(({ team }) => team === null)) {
    const empty = 'Nobody has a team. Load people with `daywalk people load people.csv`.';
    return emptyFigure(NAME, empty, [credits]);
  }
  const people = await reader.ask({ ...spec, metric: 'active_users' });
  const before = periodBefore(reader.filters);
  const then =
    before === null
      ? null
      : await reader.ask({
          metric: 'billable_tokens',
          title: 'Credits by team before',
          by: ['team'],
          ...before,
        });
  const groups = nameless(viewedGroups(reader, credits, { group: 'team', format: 'millions', most: MOST }));
  const max = largestOf(groups);
  const against = before === null ? '' : `; change against ${periodWords(before, reader.filters.until)}`;
  return {
    kind: 'figure',
    id: NAME.id,
    title: NAME.title,
    subtitle: `${periodWords(reader.filters)}${against}`,
    table: {
      columns: [
        { title: 'Team' },
        { title: 'People', align: 'end' },
        { title: 'Credits, M', align: 'end' },
        { title: '' },
        { title: 'Change', align: 'end' },
      ],
      rows: groups.map((group) => [
        nameOf(group),
        peopleOf(group, people),
        group.total,
        { kind: 'bar', value: group.isOthers ? null : group.total.value, max },
        changeSince(group, credits, then),
      ]),
    },
    tableIs: 'shown',
    results: [credits, people, ...(then === null ? [] : [then])],
    notes: [['Someone who changed teams in the period counts in both.']],
  };
}

/** The group without a name goes last, whatever its size. */
function nameless(groups: readonly Group[]): readonly Group[] {
  const isLast = ({ name }: Group) => name === namelessOf('team');
  return [...groups.filter((group) => !isLast(group)), ...groups.filter(isLast)];
}

function nameOf({ name, isOthers, members }: Group): Cell {
  if (isOthers) return { kind: 'text', text: `${members.length} ${name}`, isMuted: true };
  if (name === namelessOf('team')) return { kind: 'text', text: name, isMuted: true };
  return linkTo('/teams', name, name);
}

function peopleOf({ isOthers, members }: Group, people: MetricResult): ShownNumber {
  const index = rowsOf(people, members)[0];
  if (index === undefined) return noNumber('nobody was active');
  if (isOthers && members.length > 1) return noNumber('people of several teams do not add up');
  return cellOf(people, index, 'count');
}

function changeSince({ total, members }: Group, now: MetricResult, then: MetricResult | null): ShownNumber {
  if (then === null) return noNumber(NO_SPAN_BEFORE, 'change');
  const before = rowsOf(then, members).map((index) => cellOf(then, index, 'millions'));
  return changeOf(total, wholeSumOf(before, 'millions'), holeIn(now, then));
}

/** The rows of the teams of a group. */
function rowsOf({ rows }: MetricResult, members: readonly string[]): number[] {
  return rows.flatMap(({ team, value }, index) =>
    value !== null && members.includes(String(team ?? namelessOf('team'))) ? [index] : [],
  );
}
