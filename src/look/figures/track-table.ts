import { differenceOf, noNumber, shareOf } from '../numbers.ts';
import type { Cell, Figure, Headline, Phrase } from '../page.ts';
import { emptyFigure, linkTo, type Slice, slicePath } from '../page.ts';
import type { Filters, PageReader } from '../reader.ts';
import { dayName, monthName } from '../words.ts';
import type { Track } from './on-track.ts';
import { isOverNow, mergedLine, riskShare, type TrackLine } from './track-line.ts';

const NAME = { id: 'on-track', title: 'Is spend on track?' } as const;

/** Budgets of the month as bullet bars: month, quarter, the most urgent teams, and the others together. */
export function trackFigure(
  { filters }: PageReader,
  track: Track,
  { most = Number.POSITIVE_INFINITY }: { most?: number } = {},
): Figure {
  const { currency, month, teams, whole, quarter, results, why, months } = track;
  const name = { ...NAME, unit: `${currency ?? 'Cost'}, ${monthName(month)} ${month.slice(0, 4)}` };
  if (why !== undefined) return emptyFigure(name, why, results);
  if (!track.hasBudgets) {
    const empty =
      filters.team === undefined
        ? `No budgets are loaded for ${monthName(month)}: \`daywalk budget load budgets.csv\`.`
        : `This team has no budget for ${monthName(month)}.`;
    return emptyFigure(name, empty, results);
  }
  const own = teams.filter(({ isTeam }) => isTeam);
  const merged = own.length <= most ? [] : [mergedLine('others', own.slice(most))];
  const lines = [
    ...(filters.team === undefined ? [whole, ...(quarter === null ? [] : [quarter])] : []),
    ...own.slice(0, most),
    ...merged,
    // What teams without a budget spend is no part of what others have.
    ...teams.filter(({ isTeam }) => !isTeam),
  ];
  return {
    kind: 'figure',
    ...NAME,
    subtitle: `${name.unit}; risk: how many of the forecast errors of earlier months would end over the budget`,
    table: {
      columns: [
        { title: 'Budget' },
        { title: 'Spent and forecast' },
        { title: 'Spent', align: 'end', isSpare: true },
        { title: 'Forecast', align: 'end' },
        { title: 'Budget', align: 'end', isSpare: true },
        { title: 'Against', align: 'end', isSpare: true },
        { title: 'Risk' },
      ],
      rows: lines.map((line) => rowOf(line, merged.includes(line), track.period)),
    },
    results,
    notes: track.hasForecast ? [[BARS], errorsNote(months)] : [[NO_FORECAST], ...soFar(track)],
  };
}

const NO_FORECAST = 'Nothing is forecast, because days of the month are missing.';
const BARS =
  'Bar: spent. Outline: forecast. Line: range of the errors. Tick: budget. The forecast is the cost of the settled days, divided by their working days, times those of the month.';

function errorsNote(months: number): Phrase {
  if (months < 4) return ['The risk is known once four months are complete.'];
  return [
    'The errors are those of complete months on the same day of the month, computed from what is stored now.',
  ];
}

function soFar({ whole, currency, teams, period: { until } }: Track): Phrase[] {
  if (whole.spent.value === null || whole.budget.value === null) return [];
  const unit = currency === null ? '' : ` ${currency}`;
  return [
    [
      `Until ${dayName(until)}, `,
      whole.spent,
      ' of ',
      whole.budget,
      `${unit} were spent (`,
      shareOf(whole.spent, whole.budget),
      ')',
      ...ofTeamsWithout(teams),
      '.',
    ],
  ];
}

function rowOf(line: TrackLine, isMerged: boolean, period: Pick<Slice, 'from' | 'until'>): Cell[] {
  const { name, isTeam, spent, forecast, budget, range } = line;
  // A budget can name a team that nobody was ever in; it has no page.
  const isUsed = isTeam && spent.formula.op === 'cell';
  return [
    isUsed
      ? linkTo('/teams', name, name)
      : isMerged
        ? { kind: 'link', text: name, path: '/models' }
        : { kind: 'text', text: name },
    { kind: 'bullet', spent: spent.value, forecast: forecast.value, range, budget: budget.value },
    isUsed ? { ...spent, path: slicePath({ team: name, value: 'cost', ...period }) } : spent,
    forecast,
    budget,
    budget.value === null || forecast.value === null
      ? noNumber(budget.why ?? forecast.why ?? 'there is no forecast', 'moneyChange')
      : differenceOf(forecast, budget, 'moneyChange'),
    { kind: 'phrase', parts: riskPhrase(line, isMerged) },
  ];
}

/** `6 of 9`, `over now`, or a dash with its reason. */
export function riskPhrase(line: TrackLine, isMerged = false): Phrase {
  if (isOverNow(line) && !isMerged) return [{ kind: 'strong', parts: ['over now'] }];
  if (line.risk === null) return [noNumber('fewer than four months are complete, or there is no forecast')];
  const { over, of } = line.risk;
  return [isMerged ? '≤ ' : '', over, ' of ', of];
}

/** What is said after a number of credits that should be money. No price helps where the metric refuses to add two currencies. */
export function costNotKnown({ number: { why }, results }: Headline): Phrase {
  if (why === undefined) return [];
  return [
    ` What they cost is not known: ${results.length === 0 ? why : '`daywalk prices load prices.csv`'}.`,
  ];
}

/** What teams without a budget have spent, after the budget of the others. */
export function ofTeamsWithout(teams: Track['teams']): Phrase {
  const without = teams.find(({ isTeam }) => !isTeam);
  return without === undefined ? [] : [', with ', without.spent, ' of teams that have none'];
}

/** Why nothing is said of budgets although some are loaded: one of them is in another currency, or a price is missing. */
export function budgetsNotKnown({ hasBudgets, whole: { spent }, why }: Track): Phrase {
  if (!hasBudgets || why !== undefined || spent.value !== null) return [];
  return [` Whether the budgets hold is not known: ${spent.why}.`];
}

/** What will become of the month of a period that is not over; follows what was spent `so far`. Null if nothing can be said. */
export function outlookOf({ until }: Filters, track: Track): Phrase | null {
  const { whole, hasBudgets, teams } = track;
  if (!track.hasForecast) {
    if (!hasBudgets) return null;
    if (isOverNow(whole)) return ['. It is over its budget of ', whole.budget, ' already.'];
    return ['. Whether the budget of ', whole.budget, ' will hold is not known.'];
  }
  const unknown = budgetsNotKnown(track);
  if (unknown.length > 0) return ['.', ...unknown];
  if (whole.forecast.value === null) return null;
  const forecast: Phrase = [
    ' and about ',
    { kind: 'strong', parts: [whole.forecast] },
    ` by the end of ${monthName(until)}`,
  ];
  if (!hasBudgets || whole.budget.value === null) {
    return [...forecast, '; there is no budget to compare it with: `daywalk budget load budgets.csv`.'];
  }
  return [
    ...forecast,
    ', against a budget of ',
    whole.budget,
    ...ofTeamsWithout(teams),
    ': it ',
    { kind: 'strong', parts: [outlookWords(whole)] },
    ...(whole.risk === null || isOverNow(whole) ? [] : [' (risk ', ...riskPhrase(whole), ')']),
    '.',
  ];
}

/** Whether a budget will hold, after its name or `it`: `may go over`. */
export function outlookWords(whole: Track['whole']): string {
  if (isOverNow(whole)) return 'is over already';
  const share = riskShare(whole);
  if (share < 0) return (whole.forecast.value ?? 0) > (whole.budget.value ?? 0) ? 'may go over' : 'may hold';
  return share >= 0.5 ? 'may go over' : share > 0 ? 'will probably hold' : 'should hold';
}
