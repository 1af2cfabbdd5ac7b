import { html } from 'hono/html';
import { formulaText } from '../page/formula.ts';
import type { ShownNumber } from '../page/numbers.ts';
import { formatNumber } from '../words/numbers.ts';

/** A number with its exact value and its formula; a dash with its reason if there is none. */
export function numberHtml({ value, format, formula, why, open }: ShownNumber) {
  const source = formulaText(formula);
  if (value === null) {
    const reason = why ?? 'no value is stored';
    return html`<span class="none" data-formula="${source}" title="${reason}"><span aria-hidden="true">–</span><span class="hidden">no number: ${reason}</span></span>`;
  }
  const text = formatNumber(value, format);
  return open === undefined
    ? html`<data value="${value}" data-formula="${source}">${text}</data>`
    : html`<data value="${value}" data-formula="${source}" class="open" title="${open}">${text}</data>`;
}
