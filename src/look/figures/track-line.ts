import { BUDGET_ROUNDING } from '../../../schema/query.ts';
import { type Formula, type ShownNumber, shareOf, wholeSumOf } from '../numbers.ts';

/** How many of the earlier forecast errors end over a budget. */
interface Risk {
  readonly over: ShownNumber;
  readonly of: ShownNumber;
}

/** A budget, or those of a month or quarter together, against what was spent and what is forecast. */
export interface TrackLine {
  readonly name: string;
  /** True for a team, whose page the name leads to. */
  readonly isTeam: boolean;
  readonly spent: ShownNumber;
  readonly forecast: ShownNumber;
  readonly budget: ShownNumber;
  /** The forecast times the lowest and the highest error; null for too few months. */
  readonly range: readonly [low: number, high: number] | null;
  /** Null for fewer than four complete months, and without a forecast or a budget. */
  readonly risk: Risk | null;
}

/** Fewer complete months say nothing about a risk. */
const MONTHS_MIN = 4;
interface Amounts extends Pick<TrackLine, 'isTeam' | 'spent' | 'forecast' | 'budget'> {
  /** Actual ÷ forecast of each complete month. */
  readonly ratios: readonly ShownNumber[];
  /** From which ratio on the budget does not hold. @default budget ÷ forecast */
  readonly limit?: ShownNumber;
  /** What a ratio applies to. @default the forecast */
  readonly open?: number;
}

/** A line with its range and its risk. */
export function trackLine(name: string, { ratios, limit, open, ...amounts }: Amounts): TrackLine {
  const { forecast, budget } = amounts;
  const values = ratios.flatMap(({ value }) => value ?? []);
  const known = values.length >= MONTHS_MIN && forecast.value !== null;
  const moving = open ?? forecast.value ?? 0;
  const fixed = (forecast.value ?? 0) - moving;
  return {
    name,
    ...amounts,
    range: known ? [fixed + moving * Math.min(...values), fixed + moving * Math.max(...values)] : null,
    risk: known && budget.value !== null ? riskOf(ratios, limit ?? shareOf(budget, forecast)) : null,
  };
}

function riskOf(ratios: readonly ShownNumber[], limit: ShownNumber): Risk | null {
  if (limit.value === null) return null;
  const most = limit.value * BUDGET_ROUNDING;
  const formulas = ratios.map(({ formula }) => formula);
  const number = (value: number, formula: Formula): ShownNumber => ({
    ...{ kind: 'number', format: 'count' },
    value,
    formula,
  });
  const over = ratios.filter(({ value }) => value !== null && value > most).length;
  return {
    over: number(over, { op: 'above', of: [limit.formula, ...formulas] }),
    of: number(ratios.length, { op: 'count', of: formulas }),
  };
}

/** True if more is spent than the budget has. */
export function isOverNow({ spent, budget }: Pick<TrackLine, 'spent' | 'budget'>): boolean {
  return spent.value !== null && budget.value !== null && spent.value > budget.value * BUDGET_ROUNDING;
}

/** Over now first, then by risk, then by the amount of the budget, then by name. */
export function byUrgency(a: TrackLine, b: TrackLine): number {
  return (
    Number(isOverNow(b)) - Number(isOverNow(a)) ||
    riskShare(b) - riskShare(a) ||
    (b.budget.value ?? 0) - (a.budget.value ?? 0) ||
    (a.name < b.name ? -1 : 1)
  );
}

/** The risk of a line as a share; −1 if it is not known. */
export function riskShare({ risk }: TrackLine): number {
  return risk === null ? -1 : (risk.over.value ?? 0) / Math.max(1, risk.of.value ?? 0);
}

/** A number of all lines together. */
export function wholeOf(lines: readonly TrackLine[], name: 'spent' | 'forecast' | 'budget'): ShownNumber {
  const numbers = lines.map((line) => line[name]);
  return wholeSumOf(numbers, 'round');
}

/** Several lines as one, with the highest of their risks. */
export function mergedLine(name: string, lines: readonly TrackLine[]): TrackLine {
  const worst = lines.toSorted((a, b) => riskShare(b) - riskShare(a))[0];
  return {
    ...{ name: `${name} (${lines.length})`, isTeam: false, range: null },
    spent: wholeOf(lines, 'spent'),
    forecast: wholeOf(lines, 'forecast'),
    budget: wholeOf(lines, 'budget'),
    risk: worst?.risk ?? null,
  };
}
