import { sql } from '../../../schema/query.ts';
import { daysFrom, monthEndOf, monthOf, shiftDay, type UtcDay } from '../../core/day.ts';
import { contractOf, dailyOf, spanStart } from '../../expected/index.ts';
import type { Period } from '../../metrics/index.ts';
import { runReads } from '../../port/index.ts';
import { calendarRows } from '../charts/calendar.ts';
import { whyChanged } from '../figures/causes.ts';
import { isMark, UNIT_MARK } from '../figures/day-states.ts';
import { drivers, modelLinks, teamLinks } from '../figures/drivers.ts';
import { directorNumbers } from '../figures/headline.ts';
import { textCell } from '../figures/listing.ts';
import { readTrack, type Track } from '../figures/on-track.ts';
import { comparedPhrase, comparison, doubtedDays, openPhrase, teamWords } from '../figures/opening.ts';
import { overPeriod } from '../figures/over-time.ts';
import { costNotKnown, outlookOf, trackFigure } from '../figures/track-table.ts';
import {
  type Figure,
  type Headline,
  MARK_NAMES,
  MARK_STATES,
  type MarkState,
  orNotKept,
  type Page,
  type Phrase,
  type Section,
  slicePath,
} from '../page.ts';
import type { Filters, PageReader } from '../reader.ts';
import { periodBefore } from '../time-spans.ts';
import { lastDrawn } from '../trust.ts';
import { duringWords, nounFor, periodHeading, periodWords } from '../words.ts';
import type { PageKind } from './page-kind.ts';

/** Budgets that the overview shows; the page of models and cost has all. */
const BUDGETS_MAX = 8;

type Numbers = Awaited<ReturnType<typeof directorNumbers>>;

/** What a director reads first: whether the numbers can be trusted, what is spent, whether it is on track, and who and what drives it. */
export const overview: PageKind = {
  path: '/',
  name: 'Overview',
  async build(reader) {
    const { filters } = reader;
    const numbers = await directorNumbers(reader);
    const isMoney = numbers.cost.number.value !== null;
    const first = isMoney ? numbers.cost : numbers.credits;
    const track = await readTrack(reader);
    const chart = await overPeriod(reader, {
      ...(isMoney
        ? {
            ...{ id: 'cost-per-day', title: 'Cost per day', metric: 'cost', format: 'money' },
            unit: numbers.cost.unit ?? 'Cost',
          }
        : {
            ...{ id: 'credits-per-day', title: 'Credits per day', metric: 'billable_tokens' },
            ...{ unit: 'Million', format: 'compact', divisor: 1e6 },
          }),
    });
    const doubted = await doubtedDays(reader);
    const why = await whyChanged(reader);
    const budgets = trackFigure(reader, track, { most: BUDGETS_MAX });
    const before = periodBefore(filters);
    return {
      name: 'Overview',
      heading: periodHeading(filters),
      sentence: [
        ...sentenceOf(filters, { numbers, first, isMoney, track, why: why.largest }),
        ...openPhrase(filters, { of: first, byDay: chart, doubted, isMoney }),
        ...comparedPhrase(first, filters),
      ],
      sections: [
        {
          kind: 'headlines',
          headlines: [opening(first, isMoney), numbers.users, numbers.perPerson, numbers.readiness],
        },
        ...(budgets.empty === undefined
          ? [{ kind: 'pair' as const, figures: [budgets, why.figure] as const, isUneven: true }]
          : [budgets, why.figure]),
        chart,
        await whoAndWhat(reader, first, isMoney),
        await streamSquares(reader, { from: before?.from ?? filters.from, until: filters.until }),
      ],
    } satisfies Page;
  },
};

/** The spend opens what it consists of. */
function opening(first: Headline, isMoney: boolean): Headline {
  return { ...first, number: { ...first.number, path: slicePath({ value: isMoney ? 'cost' : 'credits' }) } };
}

/** Spend, forecast, budget, risk and change in words. */
function sentenceOf(
  filters: Filters,
  {
    numbers,
    first,
    isMoney,
    track,
    why,
  }: { numbers: Numbers; first: Headline; isMoney: boolean; track: Track; why: Phrase },
): Phrase {
  const { users, credits } = numbers;
  const [now] = credits.results;
  if (now === undefined) return [];
  if (first.number.value === null && users.number.value === null) {
    return [orNotKept(now, `Nothing is stored of ${periodWords(filters)}.`)];
  }
  if (users.number.value === 0) return [`${teamWords(filters)}Nobody was active ${duringWords(filters)}.`];
  const unit = isMoney ? `\u00a0${first.unit ?? ''}` : nounFor(first.number, ' credit', ' credits');
  const spent: Phrase = [teamWords(filters), { kind: 'strong', parts: [first.number, unit] }];
  const people: Phrase = [
    ', by ',
    { kind: 'strong', parts: [users.number, nounFor(users.number, ' person', ' people')] },
  ];
  const outlook = isMoney && isMonthToDate(filters) ? outlookOf(filters, track) : null;
  const costs = isMoney ? [] : costNotKnown(numbers.cost);
  const change = comparison(first, filters);
  const causes: Phrase = why.length === 0 || first.change.value === null ? [] : [': ', ...why];
  if (outlook === null) return [...spent, ...change, ...people, ...causes, '.', ...costs];
  const compared =
    first.change.value === null
      ? [' It was spent', ...trimmed(people), ...change]
      : [' So far it is', ...trimmed(change), ...people, ...causes];
  return [...spent, ' so far', ...outlook, ...(change.length === 0 ? [] : [...compared, '.'])];
}

function isMonthToDate({ from, until }: Filters): boolean {
  return monthOf(until) === from && until < monthEndOf(until);
}

/** A phrase that follows `, ` without it. */
function trimmed(phrase: Phrase): Phrase {
  const [first, ...rest] = phrase;
  return typeof first === 'string' ? [first.replace(/^, /, ' '), ...rest] : phrase;
}

async function whoAndWhat(reader: PageReader, first: Headline, isMoney: boolean): Promise<Section> {
  const shared = {
    amount: isMoney ? `Cost, ${first.unit ?? ''}` : 'Credits',
    format: isMoney ? ('round' as const) : ('compact' as const),
    changeFormat: isMoney ? ('moneyChange' as const) : ('compactChange' as const),
    total: first.number,
  };
  const value = isMoney ? 'cost' : 'credits';
  const isTeam = reader.filters.team !== undefined;
  const models = await drivers(reader, {
    ...shared,
    ...{
      by: 'model',
      metric: `${isTeam ? 'user_model' : 'published'}_${isMoney ? 'cost' : 'billable_tokens'}`,
    },
    path: '/models',
    ...modelLinks(value),
    ...{ id: 'models', title: 'What drives it', thing: 'Model' },
    notes: isTeam ? [] : [['Models are those that the service publishes for the organization.']],
  });
  // One team beside itself says nothing.
  if (isTeam) return models;
  const teams = await drivers(reader, {
    ...shared,
    ...{ by: 'team', metric: isMoney ? 'cost' : 'billable_tokens', path: '/teams' },
    ...teamLinks(value),
    ...{ id: 'teams', title: 'Who drives it', thing: 'Team' },
  });
  return { kind: 'pair', figures: [teams, models] };
}

/** So many days have squares of their own; the page of data has all of them. */
const SQUARE_DAYS_MAX = 184;
const SQUARES = {
  id: 'coverage',
  title: 'What these numbers stand on',
  unit: 'Each stream and UTC day',
} as const;

/** One square per stream and day of a span, which ends with the last day that is drawn. */
export async function streamSquares(reader: PageReader, span: Period): Promise<Figure> {
  const { filters } = reader;
  const until = lastDrawn(span, filters.today);
  const least = shiftDay(until, 1 - SQUARE_DAYS_MAX);
  const from = spanStart(span.from < least ? least : span.from, until, filters);
  const streams = dailyOf(await runReads(reader.warehouse, contractOf(filters.orgId)));
  const result = await reader.select({
    title: SQUARES.title,
    query: sql`SELECT u.date, u.stream, ${UNIT_MARK} AS state
FROM export_units u
WHERE u.org_id = ${filters.orgId} AND u.stream <> 'readiness' AND u.date BETWEEN ${from} AND ${until}
ORDER BY u.date DESC, u.stream`,
    streams,
    from,
    until,
  });
  const known = new Map(result.rows.map(({ date, stream, state }) => [`${date} ${stream}`, state]));
  const days = daysFrom(from, until);
  const stateOf = (stream: string, day: UtcDay): MarkState => {
    const state = known.get(`${day} ${stream}`);
    return isMark(state) ? state : 'pending';
  };
  const rows = streams.map((name) => ({
    name,
    days: days.map((day) => ({ day, state: stateOf(name, day) })),
  }));
  const found = new Set(rows.flatMap((row) => row.days.map(({ state }) => state)));
  const legend = MARK_STATES.filter((state) => found.has(state));
  const isCut = from > span.from && from === least;
  return {
    kind: 'figure',
    ...SQUARES,
    subtitle: `${SQUARES.unit}${isCut ? '' : ' of both spans'}, ${periodHeading({ from, until })}`,
    chart: calendarRows(rows, `${SQUARES.title}: ${legend.map((state) => MARK_NAMES[state]).join(', ')}`),
    table: {
      columns: [{ title: 'Day' }, ...streams.map((title) => ({ title }))],
      rows: days
        .toReversed()
        .map((day) => [
          textCell(day),
          ...streams.map((stream) => textCell(MARK_NAMES[stateOf(stream, day)])),
        ]),
    },
    isTableFolded: true,
    results: [result],
    notes: [[{ kind: 'link', text: 'All days', path: '/data' }, ' since the first expected one.']],
    legend,
  };
}
