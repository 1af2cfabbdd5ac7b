import { type DaySpan, daysBetween, spansOf } from '../../core/day.ts';
import type { CoveredDays, MetricAnswer } from '../../metrics/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import { counted, formatNumber } from './numbers.ts';
import { escapeForTerminal, wrapText } from './text.ts';

const PROVENANCE_LINES_MAX = 6;

/** What numbers rest on. */
type Basis = Pick<MetricAnswer, 'org_id' | 'from' | 'until' | 'days' | 'run_id'>;

/**
 * Draws what numbers rest on: the organization, the days, which of them may still change or are missing, and the run that
 * changed them last. One line; on a terminal it is wrapped between words.
 * @param more what else they rest on
 */
export function renderProvenance(
  basis: Basis,
  { isTerminal, width, redact }: ScreenFrame,
  more: readonly string[] = [],
): string[] {
  const line = escapeForTerminal(redact(provenanceLine(basis, more)));
  return isTerminal ? wrapText(line, { width, lead: '', linesMax: PROVENANCE_LINES_MAX }) : [line];
}

function provenanceLine({ org_id, from, until, days, run_id }: Basis, more: readonly string[]): string {
  return [
    `organization ${org_id}`,
    from === until ? from : `${from} to ${until}`,
    ...settledWords(days),
    ...unsettledWords(days),
    ...holeWords(days),
    ...more,
    run_id === null ? 'no run' : `run ${run_id}`,
  ].join('; ');
}

/** Says which days are missing; null if none is. */
export function describeHole({ expected, missing }: CoveredDays): string | null {
  if (missing.length === 0) return null;
  const verb = missing.length === 1 ? 'is' : 'are';
  return `${formatNumber(missing.length)} of ${counted(expected, 'day')} ${verb} missing: ${nameSpans(spansOf(missing))}`;
}

function settledWords({ expected, settled }: CoveredDays): string[] {
  if (expected === 0) return [];
  if (settled === expected)
    return [expected === 1 ? 'the day is settled' : `all ${formatNumber(expected)} days settled`];
  return [`${formatNumber(settled)} of ${counted(expected, 'day')} settled`];
}

/** Names the days that may still change; nothing if none may. */
export function unsettledWords({ unsettled }: CoveredDays): string[] {
  return unsettled.length === 0
    ? []
    : [`${formatNumber(unsettled.length)} not settled: ${nameSpans(spansOf(unsettled))}`];
}

function holeWords(days: CoveredDays): string[] {
  const hole = describeHole(days);
  return hole === null ? [] : [hole];
}

const SPANS_SHOWN_MAX = 3;

/** Names the first of some spans of days, and says how many days follow. */
export function nameSpans(spans: readonly DaySpan[]): string {
  const names = spans
    .slice(0, SPANS_SHOWN_MAX)
    .map(({ from, until }) => (from === until ? from : `${from} to ${until}`));
  const rest = spans
    .slice(SPANS_SHOWN_MAX)
    .reduce((sum, { from, until }) => sum + daysBetween(from, until) + 1, 0);
  return [...names, ...(rest === 0 ? [] : [`and ${counted(rest, 'more day')}`])].join(', ');
}

const WARNING_LINES_MAX = 6;

/** Draws warnings below a result, one sentence each. */
export function renderWarnings(warnings: readonly string[], frame: ScreenFrame): string[] {
  return warnings.flatMap((warning) => {
    const text = escapeForTerminal(frame.redact(warning));
    const lines = frame.isTerminal
      ? wrapText(text, { width: frame.width, lead: '', linesMax: WARNING_LINES_MAX })
      : [text];
    return ['', ...lines.map(frame.style.yellow)];
  });
}
