import { UNASSIGNED } from '../../rollups/index.ts';
import { coverage } from '../figures/coverage.ts';
import { type Group, groupsOf, largestOf } from '../figures/groups.ts';
import { mainNumbers } from '../figures/headline.ts';
import { comparison, doubtedDays, openDays, standing, teamWords } from '../figures/opening.ts';
import { overTime, recentCredits } from '../figures/over-time.ts';
import {
  cellOf,
  changeOf,
  type MetricResult,
  noNumber,
  type Result,
  type ShownNumber,
  wholeSumOf,
} from '../numbers.ts';
import {
  type Cell,
  emptyFigure,
  type Figure,
  type Headline,
  linkTo,
  orNotKept,
  type Page,
  type Phrase,
  type Section,
} from '../page.ts';
import type { PageReader } from '../reader.ts';
import { holeIn, NO_SPAN_BEFORE, periodBefore } from '../time-spans.ts';
import { duringWords, nounFor, periodHeading, periodWords } from '../words.ts';
import type { PageKind } from './page-kind.ts';

/** What a director reads first. */
export const overview: PageKind = {
  path: '/',
  name: 'Overview',
  async build(reader) {
    const { filters } = reader;
    const { credits, users, sessions, commits } = await mainNumbers(reader);
    const doubted = await doubtedDays(reader);
    return {
      name: 'Overview',
      heading: periodHeading(filters),
      sentence: sentenceOf(reader, { credits, users, doubted }),
      sections: [
        { kind: 'headlines', headlines: [credits, users, sessions, commits] },
        await recentCredits(reader),
        await modelsAndTeams(reader),
        await coverage(reader, {
          stream: 'activity',
          id: 'coverage',
          title: 'What these numbers stand on',
        }),
        await openDays(reader, doubted),
      ],
    } satisfies Page;
  },
};

function sentenceOf(
  { filters }: PageReader,
  { credits, users, doubted }: { credits: Headline; users: Headline; doubted: Result },
): Phrase {
  const [now] = credits.results;
  if (now === undefined) return [];
  const rest = standing(now, doubted);
  if (credits.number.value === null && users.number.value === null) {
    return [orNotKept(now, `Nothing is stored of ${periodWords(filters)}.`), ...rest];
  }
  if (users.number.value === 0) {
    return [`${teamWords(filters)}Nobody was active ${duringWords(filters)}.`, ...rest];
  }
  return [
    teamWords(filters),
    { kind: 'strong', parts: [credits.number, ` ${nounFor(credits.number, 'credit', 'credits')}`] },
    ...comparison(credits, filters),
    ', by ',
    { kind: 'strong', parts: [users.number, ` ${nounFor(users.number, 'person', 'people')}`] },
    '.',
    ...rest,
  ];
}

async function modelsAndTeams(reader: PageReader): Promise<Section> {
  const models = await overTime(reader, {
    draw: 'bars',
    metric: 'published_billable_tokens',
    by: 'model',
    grain: 'week',
    id: 'credits-by-model',
    title: 'Credits by model, per week',
    unit: 'Million',
    format: 'compact',
    divisor: 1e6,
  });
  // One team beside itself says nothing.
  if (reader.filters.team !== undefined) return models;
  return { kind: 'pair', figures: [models, await teamTable(reader)] };
}

const TEAMS_MAX = 12;
const TEAMS_NAME = { id: 'teams', title: 'Teams', unit: 'People and credits' } as const;

/** Each team with its people and credits, the largest first and people without a team last, against the span before. */
async function teamTable(reader: PageReader): Promise<Figure> {
  const together = ['billable_tokens', 'active_users'];
  const spec = { together, title: 'Credits and people by team', by: ['team'] } as const;
  const credits = await reader.ask({ ...spec, metric: 'billable_tokens' });
  if (credits.rows.every(({ team }) => team === null)) {
    const empty = 'Nobody has a team. Load people with `daywalk people load people.csv`.';
    return emptyFigure(TEAMS_NAME, orNotKept(credits, empty), [credits]);
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
  const groups = nameless(groupsOf(credits, { group: 'team', format: 'millions', most: TEAMS_MAX }));
  const max = largestOf(groups);
  const against = before === null ? '' : `; change against ${periodWords(before, reader.filters.until)}`;
  return {
    kind: 'figure',
    id: TEAMS_NAME.id,
    title: TEAMS_NAME.title,
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
  const isLast = ({ name }: Group) => name === UNASSIGNED;
  return [...groups.filter((group) => !isLast(group)), ...groups.filter(isLast)];
}

function nameOf({ name, isOthers, members }: Group): Cell {
  if (isOthers) return { kind: 'text', text: `${members.length} ${name}`, isMuted: true };
  if (name === UNASSIGNED) return { kind: 'text', text: name, isMuted: true };
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
    value !== null && members.includes(String(team ?? UNASSIGNED)) ? [index] : [],
  );
}
