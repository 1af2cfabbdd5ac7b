import type { DaySpan } from '../../metrics/money/price-gaps.ts';
import { formatNumber } from '../text/quantity.ts';

const SPANS_SHOWN_MAX = 3;

/** Names the first of some spans of days, and how many more there are. */
export function nameSpans(spans: readonly DaySpan[]): string {
  const shown = spans
    .slice(0, SPANS_SHOWN_MAX)
    .map(({ from, until }) => (from === until ? from : `${from} to ${until}`));
  const more = spans.length - SPANS_SHOWN_MAX;
  return [...shown, ...(more > 0 ? [`and ${formatNumber(more)} more`] : [])].join(', ');
}
