import { shiftDay, type UtcDay } from '../../../core/day.ts';
import type { CoveredDays, MetricAnswer } from '../../../metrics/question.ts';
import { counted, formatNumber } from '../../text/quantity.ts';

/** How many spans of days are named. */
const SPANS_MAX = 3;

/** Says in one sentence what an answer rests on: organization, days, what may still change or is missing, and the run. */
export function provenanceLine({ org_id, from, until, days, run_id }: MetricAnswer): string {
  return [
    `organization ${org_id}`,
    from === until ? from : `${from} to ${until}`,
    ...settledWords(days),
    ...unsettledWords(days),
    ...holeWords(days),
    run_id === null ? 'no run' : `run ${run_id}`,
  ].join('; ');
}

/** Says which days are missing; null if none is. */
export function describeHole({ expected, missing }: CoveredDays): string | null {
  if (missing.length === 0) return null;
  const verb = missing.length === 1 ? 'is' : 'are';
  return `${formatNumber(missing.length)} of ${counted(expected, 'day')} ${verb} missing: ${namedDays(missing)}`;
}

function settledWords({ expected, settled }: CoveredDays): string[] {
  if (expected === 0) return [];
  if (settled === expected)
    return [expected === 1 ? 'the day is settled' : `all ${formatNumber(expected)} days settled`];
  return [`${formatNumber(settled)} of ${counted(expected, 'day')} settled`];
}

function unsettledWords({ unsettled }: CoveredDays): string[] {
  return unsettled.length === 0
    ? []
    : [`${formatNumber(unsettled.length)} not settled: ${namedDays(unsettled)}`];
}

interface Span {
  readonly first: UtcDay;
  readonly last: UtcDay;
  readonly days: number;
}

/** The first spans of days by name, and how many days follow. */
function namedDays(days: readonly UtcDay[]): string {
  const spans = spansOf(days);
  const shown = spans.slice(0, SPANS_MAX);
  const rest = spans.slice(SPANS_MAX).reduce((sum, span) => sum + span.days, 0);
  const names = shown.map(({ first, last }) => (first === last ? first : `${first} to ${last}`));
  return [...names, ...(rest === 0 ? [] : [`and ${formatNumber(rest)} more`])].join(', ');
}

function spansOf(days: readonly UtcDay[]): Span[] {
  const spans: Span[] = [];
  for (const day of days) {
    const last = spans.at(-1);
    if (last === undefined || shiftDay(last.last, 1) !== day) spans.push({ first: day, last: day, days: 1 });
    else spans[spans.length - 1] = { first: last.first, last: day, days: last.days + 1 };
  }
  return spans;
}

function holeWords(days: CoveredDays): string[] {
  const hole = describeHole(days);
  return hole === null ? [] : [hole];
}
