import { UNASSIGNED } from '../../rollups/index.ts';
import { groupsOf, isWithoutPeople } from '../figures/groups.ts';
import { headline } from '../figures/headline.ts';
import { comparison } from '../figures/opening.ts';
import {
  cellOf,
  changeOf,
  type MetricResult,
  type NumberFormat,
  noNumber,
  type ShownNumber,
  shareOf,
  wholeSumOf,
  zeroIn,
} from '../numbers.ts';
import {
  type Cell,
  emptinessOf,
  emptyFigure,
  type Figure,
  linkTo,
  orNotKept,
  type Page,
  type Phrase,
} from '../page.ts';
import { type PageReader, tryAsk } from '../reader.ts';
import { holeIn, NO_SPAN_BEFORE, periodBefore } from '../time-spans.ts';
import { asSentence, nounFor, periodHeading, periodWords } from '../words.ts';
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
    return [
      orNotKept(credits.results[0], 'No day of this period is stored, so nothing is known of any team.'),
    ];
  const result = await reader.ask({ metric: 'billable_tokens', title: 'Credits by team', by: ['team'] });
  const groups = groupsOf(result, { group: 'team', format: 'compact', most: 500 });
  const first = groups.find(({ name, isOthers }) => !isOthers && name !== UNASSIGNED);
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
          shareOf(first.total, credits.number),
          ' of all.',
        ]),
  ];
}

const TEAMS_NAME = { id: 'teams', title: 'Teams', unit: 'People, credits and output' } as const;
/** An organization with more teams has the others in one row. */
const TEAMS_MAX = 500;

/** A row of the table: a team, or several that have one row together. */
interface TeamRow {
  readonly name: string;
  readonly isOthers: boolean;
  readonly members: readonly string[];
}

/** A column of numbers of one metric by team. */
interface TeamColumn {
  readonly title: string;
  readonly metric: string;
  readonly format: NumberFormat;
  /** True if the numbers of teams add up. */
  readonly addsUp: boolean;
}

const COLUMNS = {
  seats: { title: 'People', metric: 'licensed_users', format: 'count', addsUp: true },
  active: { title: 'Active', metric: 'active_users', format: 'count', addsUp: false },
  credits: { title: 'Credits', metric: 'billable_tokens', format: 'compact', addsUp: true },
  sessions: { title: 'Sessions', metric: 'sessions', format: 'count', addsUp: true },
  commits: { title: 'Commits', metric: 'git_commits', format: 'count', addsUp: true },
} as const satisfies Record<string, TeamColumn>;

const TOGETHER = [COLUMNS.credits, COLUMNS.active, COLUMNS.sessions, COLUMNS.commits].map(
  ({ metric }) => metric,
);

/** Every team with its numbers: the largest first, people without a team last; credits against the span before. */
async function teamsCompared(reader: PageReader): Promise<Figure> {
  const ask = ({ metric, title }: TeamColumn) =>
    reader.ask({ metric, together: TOGETHER, title: `${title} by team`, by: ['team'] });
  const credits = await ask(COLUMNS.credits);
  const seats = await ask(COLUMNS.seats);
  const rows = teamRows(credits, seats);
  if (rows.length === 0 || isWithoutPeople(credits, 'team'))
    return emptyFigure(TEAMS_NAME, emptinessOf(credits), [credits]);
  const active = await ask(COLUMNS.active);
  const sessions = await ask(COLUMNS.sessions);
  const commits = await ask(COLUMNS.commits);
  const cost = await tryAsk(reader, { metric: 'cost', title: 'Cost by team', by: ['team'] });
  const before = periodBefore(reader.filters);
  const spec = { metric: 'billable_tokens', title: 'Credits by team before', by: ['team'] } as const;
  const then = before === null ? null : await reader.ask({ ...spec, ...before });
  const totals = rows.map((row) => numberOf(row, credits, COLUMNS.credits));
  const max = Math.max(0, ...totals.map(({ value }, index) => (rows[index]?.isOthers ? 0 : (value ?? 0))));
  const money = cost.kind === 'answer' ? cost.result : null;
  const costColumn = { title: costTitle(money), metric: 'cost', format: 'money', addsUp: true } as const;
  const end = (title: string) => ({ title, align: 'end' as const });
  return {
    kind: 'figure',
    id: TEAMS_NAME.id,
    title: TEAMS_NAME.title,
    subtitle: `${periodWords(reader.filters)}${before === null ? '' : `; change of credits against ${periodWords(before, reader.filters.until)}`}`,
    table: {
      columns: [
        { title: 'Team' },
        ...[COLUMNS.seats, COLUMNS.active, COLUMNS.credits].map(({ title }) => end(title)),
        { title: '' },
        end('Change'),
        ...(money === null ? [] : [end(costColumn.title)]),
        ...[COLUMNS.sessions, COLUMNS.commits].map(({ title }) => end(title)),
      ],
      rows: rows.map((row, index) => {
        const total = totals[index] ?? noNumber('nobody was active', 'compact');
        return [
          nameOf(row),
          numberOf(row, seats, COLUMNS.seats),
          numberOf(row, active, COLUMNS.active),
          total,
          { kind: 'bar', value: row.isOthers ? null : total.value, max },
          changeSince(row, { total, credits, then }),
          ...(money === null ? [] : [numberOf(row, money, costColumn)]),
          numberOf(row, sessions, COLUMNS.sessions),
          numberOf(row, commits, COLUMNS.commits),
        ];
      }),
    },
    results: [credits, seats, active, sessions, commits, ...[money, then].flatMap((result) => result ?? [])],
    notes: notesOf(cost.kind === 'refusal' ? cost.why : null),
  };
}

function teamRows(credits: MetricResult, seats: MetricResult): readonly TeamRow[] {
  const groups = groupsOf(credits, { group: 'team', format: 'compact', most: TEAMS_MAX });
  const known = new Set(groups.flatMap(({ members }) => members));
  // A team of whom nobody was active has seats only.
  const idle = seats.rows.flatMap(({ team }) => (typeof team === 'string' && !known.has(team) ? team : []));
  const rows = [...groups, ...idle.map((name) => ({ name, isOthers: false, members: [name] }))];
  const isLast = ({ name, isOthers }: TeamRow) => !isOthers && name === UNASSIGNED;
  return [...rows.filter((row) => !isLast(row)), ...rows.filter(isLast)];
}

function nameOf({ name, isOthers, members }: TeamRow): Cell {
  if (isOthers) return { kind: 'text', text: `${members.length} ${name}`, isMuted: true };
  return linkTo('/teams', name, name);
}

function numberOf({ members }: TeamRow, result: MetricResult, { format, addsUp }: TeamColumn): ShownNumber {
  const cells = cellsOf(members, result, format);
  const [only, ...others] = cells;
  if (only === undefined) return zeroIn(result, format);
  if (others.length === 0) return only;
  return addsUp ? wholeSumOf(cells, format) : noNumber('people of several teams do not add up', format);
}

function cellsOf(members: readonly string[], result: MetricResult, format: NumberFormat): ShownNumber[] {
  const [warning] = result.warnings;
  return result.rows.flatMap(({ team }, index) =>
    members.includes(String(team ?? UNASSIGNED)) ? cellOf(result, index, format, { why: warning }) : [],
  );
}

function changeSince(
  { members }: TeamRow,
  { total, credits, then }: { total: ShownNumber; credits: MetricResult; then: MetricResult | null },
): ShownNumber {
  if (then === null) return noNumber(NO_SPAN_BEFORE, 'change');
  const before = cellsOf(members, then, 'compact');
  if (before.length === 0) return noNumber('nobody was active in the span before', 'change');
  return changeOf(total, wholeSumOf(before, 'compact'), holeIn(credits, then));
}

function costTitle(money: MetricResult | null): string {
  const unit = money?.unit ?? 'currency';
  return unit === 'currency' ? 'Cost' : `Cost, ${unit}`;
}

function notesOf(refusal: string | null): Phrase[] {
  return [
    [
      'Someone who changed teams in the period is active in both, so the active people of teams do not add up.',
    ],
    ['People are those listed on the last day of the period.'],
    ...(refusal === null ? [] : [[asSentence(refusal)]]),
  ];
}
