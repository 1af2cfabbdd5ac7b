import { withoutDates } from './dates.ts';
import { type Answer, evaluateFormula } from './evaluate-formula.ts';
import type { PageClaims, PageQuery, ShownText } from './page-claims.ts';
import { runQueries } from './run-queries.ts';
import { whyWrongText } from './visible-number.ts';

const RELATIVE = 1e-9;
const DAY_MS = 86_400_000;

/**
 * Everything that a page says and its own queries do not: numbers that differ from their formula, texts that differ from
 * their number, and numbers without a formula. Empty for a page that is right.
 */
export async function wrongClaims(claims: PageClaims, location: string): Promise<string[]> {
  const answers = await runQueries(location, claims.queries);
  return [
    ...claims.queries.flatMap(wrongDays),
    ...claims.numbers.flatMap((shown) => wrongNumber(shown, answers)),
    ...claims.absent.flatMap((absent) => wrongDash(absent, answers)),
    ...claims.texts.flatMap(({ text, place }) =>
      /\d/.test(withoutDates(text)) ? [`${place}: "${text.trim()}" holds a number without a formula`] : [],
    ),
  ];
}

function wrongNumber(shown: ShownText, answers: ReadonlyMap<string, Answer>): string[] {
  const { value: text, formula, place } = shown;
  const stated = text === '' ? Number.NaN : Number(text);
  try {
    const computed = evaluateFormula(formula, answers);
    if (computed === null || !isClose(stated, computed)) {
      return [`${place}: ${formula} is ${computed}, and the page states ${text}`];
    }
  } catch (error) {
    return [`${place}: ${error instanceof Error ? error.message : String(error)}`];
  }
  const why = whyWrongText(shown, stated);
  return why === null ? [] : [`${place}: ${why}`];
}

/** A dash may stand for a value that would mislead, such as a change over a hole, but not for a value of a query. */
function wrongDash(
  { formula, reason, place }: PageClaims['absent'][number],
  answers: ReadonlyMap<string, Answer>,
): string[] {
  if (reason.trim() === '') return [`${place}: a dash gives no reason`];
  if (!/^q\d+\[/.test(formula)) return [];
  try {
    const value = evaluateFormula(formula, answers);
    return value === null ? [] : [`${place}: ${formula} is ${value}, and the page shows a dash`];
  } catch (error) {
    return [`${place}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** The days that a query states must add up. Readiness reports have no days. */
function wrongDays({ id, from, until, expected, settled, unsettled, missing }: PageQuery): string[] {
  const span = (Date.parse(until) - Date.parse(from)) / DAY_MS + 1;
  const isWhole =
    (expected === span || expected === 0) && settled + unsettled.length + missing.length === expected;
  return isWhole
    ? []
    : [
        `${id}: ${expected} days from ${from} to ${until}, of which ${settled} settled, ${unsettled.length} open, ${missing.length} missing`,
      ];
}

function isClose(a: number, b: number): boolean {
  return Math.abs(a - b) <= RELATIVE * Math.max(Math.abs(a), Math.abs(b));
}
