import type { CausesAnswer } from '../../comparison/index.ts';
import { isoWeekOf, monthEndOf, monthOf } from '../../core/day.ts';
import { spanStart } from '../../expected/index.ts';
import type { Period } from '../../metrics/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import { groupName } from '../figures/groups.ts';
import { type directorNumbers, headline } from '../figures/headline.ts';
import type { Track } from '../figures/on-track.ts';
import { comparison } from '../figures/opening.ts';
import { isOverNow, riskShare } from '../figures/track-line.ts';
import { trackFigure } from '../figures/track-table.ts';
import {
  cellOf,
  differenceOf,
  formatNumber,
  type MetricResult,
  type NumberFormat,
  type ShownNumber,
} from '../numbers.ts';
import { type Cell, type Headline, linkTo, type Phrase } from '../page.ts';
import { type Filters, type PageReader, scopeOf, type Today, tryAsk } from '../reader.ts';
import { holeIn, periodBefore } from '../time-spans.ts';
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
    words: hasForecast(filters) ? [[...range, BARS]] : (figure.notes ?? []),
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

/** What changed between a period and the span before. */
interface ChangesSpec {
  readonly by: 'team' | 'model';
  readonly metric: string;
  readonly format: NumberFormat;
  /** With a sign, for differences. */
  readonly changeFormat: NumberFormat;
  readonly most: number;
}

/** A team or model in both spans. */
export interface NamedChange {
  readonly by: 'team' | 'model';
  readonly name: string;
  readonly now: ShownNumber;
  readonly before: ShownNumber;
  readonly change: ShownNumber;
}

/**
 * The teams or models that changed most, up or down, also those that are new or not any more. None if the spans cannot be compared,
 * or nobody has a team.
 */
export async function largestChanges(reader: PageReader, spec: ChangesSpec): Promise<NamedChange[]> {
  const { by, metric, format, changeFormat, most } = spec;
  const before = periodBefore(reader.filters);
  if (before === null) return [];
  const { words: _, ...scope } = scopeOf(reader.filters, metric);
  const question = { metric, title: `${metric} by ${by}`, by: [by], ...scope };
  const now = await tryAsk(reader, question);
  const then = await tryAsk(reader, { ...question, ...before, title: `${question.title} before` });
  if (now.kind === 'refusal' || then.kind === 'refusal') return [];
  if (holeIn(now.result, then.result) !== undefined) return [];
  const [is, was] = [numbersIn(now.result, spec), numbersIn(then.result, spec)];
  const names = [...new Set([...is.keys(), ...was.keys()])].toSorted();
  if (by === 'team' && names.every((name) => name === UNASSIGNED)) return [];
  return names
    .map((name): NamedChange => {
      const amounts = { now: is.get(name) ?? nothing(format), before: was.get(name) ?? nothing(format) };
      return { by, name, ...amounts, change: differenceOf(amounts.now, amounts.before, changeFormat) };
    })
    .filter(({ change: { value } }) => value !== null && value !== 0)
    .toSorted((a, b) => Math.abs(b.change.value ?? 0) - Math.abs(a.change.value ?? 0))
    .slice(0, most);
}

function numbersIn(result: MetricResult, { by, format }: ChangesSpec): ReadonlyMap<string, ShownNumber> {
  return new Map(result.rows.map((row, index) => [groupName(row, by), cellOf(result, index, format)]));
}

/** What has no row in a span of which no day is missing was not used. */
function nothing(format: NumberFormat): ShownNumber {
  return { kind: 'number', value: 0, format, formula: { op: 'sum', of: [] } };
}
