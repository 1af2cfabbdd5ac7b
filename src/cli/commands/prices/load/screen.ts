import type { PricesLoad } from '../../../../../jobs/prices-load.ts';
import type { PriceRow } from '../../../../metrics/money/prices.ts';
import type { ScreenFrame } from '../../../output/output.ts';
import { nameSpans } from '../../../screens/day-spans.ts';
import { renderChanges } from '../../../screens/loaded-changes.ts';
import { renderWarnings } from '../../../screens/warning-lines.ts';
import { formatPrice } from '../../../text/money.ts';
import { counted } from '../../../text/quantity.ts';

const COLUMNS = {
  names: ['from', 'to'],
  nameOf: ({ valid_from, valid_to }: PriceRow) => [valid_from, valid_to],
  amountOf: ({ price_per_million, currency }: PriceRow) => formatPrice(price_per_million, currency),
};

/** Draws what a load of prices has changed, and which days have no price. */
export function renderPricesLoad(load: PricesLoad, frame: ScreenFrame): string[] {
  return [
    frame.style.green(headline(load)),
    ...renderChanges(load, COLUMNS, frame),
    ...renderWarnings(warningsOf(load), frame),
  ];
}

function headline({ prices, changes, dry_run }: PricesLoad): string {
  const all = counted(prices, 'price');
  if (changes.length === 0) return `prices: nothing to do; stored already: ${all}`;
  return dry_run ? `prices: dry run, nothing is stored; ${all} in the file` : `prices: ${all} stored`;
}

function warningsOf({ without_price: gaps, currencies }: PricesLoad): string[] {
  return [
    ...(gaps.length === 0 ? [] : [`Days without a price have no cost: ${nameSpans(gaps)}.`]),
    ...(currencies.length > 1
      ? [`The prices are in ${currencies.join(' and ')}; costs are never added over currencies.`]
      : []),
  ];
}
