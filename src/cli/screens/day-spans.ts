import { daysBetween } from '../../core/day.ts';
import type { DaySpan } from '../../core/day-span.ts';
import { counted } from '../text/quantity.ts';

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
