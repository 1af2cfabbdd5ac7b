import type { CausesAnswer } from '../../comparison/index.ts';
import { isoWeekOf, monthEndOf, monthOf } from '../../core/day.ts';
import { spanStart } from '../../expected/index.ts';
import type { Period } from '../../metrics/index.ts';
import { type directorNumbers, headline } from '../figures/headline.ts';
import { largestChanges, type NamedChange } from '../figures/largest-changes.ts';
import type { Track } from '../figures/on-track.ts';
import { comparison } from '../figures/opening.ts';
import { isOverNow, riskShare } from '../figures/track-line.ts';
import { trackFigure } from '../figures/track-table.ts';
import { cellOf, formatNumber } from '../numbers.ts';
import { type Cell, type Headline, linkTo, type Phrase } from '../page.ts';
import type { Filters, PageReader, Today } from '../reader.ts';
import { periodBefore } from '../time-spans.ts';
import { hasForecast } from '../trust.ts';
import { duringWords, lengthOf, monthName, nounFor, periodHeading, periodWords } from '../words.ts';
import type { MailPart } from './mail.ts';

/** Everything that is said about the period. */
export interface Facts {
  readonly filters: Filters & { readonly today: Today };
  readonly numbers: Awaited<ReturnType<typeof directorNumbers>>;
  readonly first: Headline;
  readonly isMoney: boolean;
  readonly track: Track;
  /** Null if nothing is compared. */
  readonly causes: CausesAnswer | null;
}

/** `week 47, 16 to 22 November 2026`, `October 2026`, `November 2026, 1 to 22`. */
export function aboutPeriod(period: Period): string {
  return isWeek(period)
    ? `${periodName(period)}, ${periodWords(period)} ${period.until.slice(0, 4)}`
    : periodHeading(period);
}

/** `week 47`, `October`, `November so far`. */
export function periodName(period: Period): string {
  const { from, until } = period;
  if (isWeek(period)) return `week ${isoWeekOf(from).iso_week}`;
  return until === monthEndOf(until) ? monthName(from) : `${monthName(from)} so far`;
}

export function isWeek(period: Period): boolean {
  return lengthOf(period) === 7 && isoWeekOf(period.from).iso_week === isoWeekOf(period.until).iso_week;
}

/** The days of the month up to the end of the period. */
export function monthToDate({ until, firstDay }: Filters): Period {
  return { from: spanStart(monthOf(until), until, { firstDay }), until };
}

export function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** So many budgets are listed at most; the others are one line. */
const BUDGETS_MAX = 8;
/** The columns of the figure of the overview that a mail has room for: name, bar, spent, forecast, budget, risk. */
const BUDGET_COLUMNS = [0, 1, 2, 3, 4, 6];

export function budgetsPart(reader: PageReader, { track, filters }: Facts): MailPart {
  const { teams, whole } = track;
  const isKnown = whole.risk !== null;
  const atRisk = teams.filter((line) => isOverNow(line) || riskShare(line) >= 0.5);
  const most = isKnown ? Math.min(BUDGETS_MAX, atRisk.length) : BUDGETS_MAX;
  const figure = trackFigure(reader, track, { most });
  const title = isKnown && atRisk.length > 0 && figure.empty === undefined ? 'Budgets at risk' : 'Budgets';
  if (figure.empty !== undefined) return { title, words: [[figure.empty]] };
  const pick = <Kind>(all: readonly Kind[]) => BUDGET_COLUMNS.flatMap((index) => all[index] ?? []);
  const range: Phrase =
    whole.range === null
      ? []
      : [
          `With the forecast errors of earlier months, ${monthName(track.month)} ends between ${formatNumber(whole.range[0], 'round')} and ${formatNumber(whole.range[1], 'round')}. `,
        ];
  return {
    title,
    subtitle: figure.subtitle,
    table: { columns: pick(figure.table.columns), rows: figure.table.rows.map(pick) },
    words: hasForecast(filters.today) ? [[...range, BARS]] : (figure.notes ?? []),
  };
}

const BARS = 'Bar: spent, and lighter the forecast. Black line: the budget.';

const TEAMS_MAX = 4;
const MODELS_MAX = 3;

/** The teams and models that changed most; none if nothing is compared. */
export async function changesPart(
  reader: PageReader,
  { filters, isMoney, first }: Facts,
): Promise<MailPart[]> {
  const before = periodBefore(filters);
  if (before === null) return [];
  const formats = isMoney
    ? ({ format: 'round', changeFormat: 'moneyChange' } as const)
    : ({ format: 'compact', changeFormat: 'compactChange' } as const);
  const found = [
    ...(await largestChanges(reader, {
      by: 'team',
      metric: isMoney ? 'cost' : 'billable_tokens',
      ...formats,
      most: TEAMS_MAX,
    })),
    ...(await largestChanges(reader, {
      ...{ by: 'model', metric: isMoney ? 'published_cost' : 'published_billable_tokens' },
      ...formats,
      most: MODELS_MAX,
    })),
  ];
  if (found.length === 0) return [];
  return [
    {
      title: `What changed most, against ${isWeek(filters) ? 'the week before' : periodWords(before, filters.until)}`,
      subtitle: `${isMoney ? (first.unit ?? '') : 'Credits'}, teams and models`,
      table: {
        columns: [
          { title: 'Team or model' },
          { title: capital(periodName(filters)), align: 'end' },
          { title: 'Before', align: 'end' },
          { title: 'Change', align: 'end' },
        ],
        rows: found.map((row) => [
          nameOf(row),
          row.now,
          row.before,
          { kind: 'phrase', parts: [{ kind: 'strong', parts: [row.change] }] },
        ]),
      },
      words: [],
    },
  ];
}

function nameOf({ by, name }: NamedChange): Cell {
  return by === 'team' ? linkTo('/teams', name, name) : { kind: 'link', text: name, path: '/models' };
}

/** People, use per person, commits, seats and readiness. */
export async function usePart(reader: PageReader, { filters, numbers }: Facts): Promise<MailPart> {
  const { users, perPerson, readiness } = numbers;
  const commits = await headline(reader, {
    metric: 'git_commits',
    title: 'Commits',
    format: 'compact',
    hasLine: false,
  });
  const month = monthToDate(filters);
  const seatsOf = async (metric: string) =>
    cellOf(await reader.ask({ metric, title: 'Seats of the month', ...month }), 0, 'count');
  const [idle, seats] = [await seatsOf('inactive_users'), await seatsOf('licensed_users')];
  if (users.number.value === null)
    return { title: 'Use', words: [['Nothing is known of the people of this period.']] };
  return {
    title: 'Use',
    words: [
      [
        { kind: 'strong', parts: [users.number, nounFor(users.number, ' person', ' people')] },
        nounFor(users.number, ' was active', ' were active'),
        ...comparison(users, filters, 'fewer'),
        ...(perPerson.number.value === null
          ? []
          : [', with ', perPerson.number, ' credits each', ...inBrackets(perPerson)]),
        '.',
        ...(commits.number.value === null
          ? []
          : [
              ' ',
              commits.number,
              nounFor(commits.number, ' commit', ' commits'),
              ...inBrackets(commits),
              '.',
            ]),
        ...(idle.value === null
          ? []
          : [
              ' ',
              idle,
              ' of ',
              seats,
              nounFor(seats, ' seat', ' seats'),
              ` had no activity ${duringWords(month)}.`,
            ]),
        ...(readiness.number.value === null
          ? []
          : [' Readiness ', readiness.number, ...inBrackets(readiness), '.']),
      ],
    ],
  };
}

function inBrackets({ change }: Headline): Phrase {
  if (change.value === null) return [];
  return /[1-9]/.test(formatNumber(change.value, change.format)) ? [' (', change, ')'] : [' (unchanged)'];
}
