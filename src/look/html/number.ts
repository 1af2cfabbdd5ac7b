import { html } from 'hono/html';
import { formulaText } from '../page/formula.ts';
import type { ShownNumber } from '../page/numbers.ts';
import { formatNumber } from '../words/numbers.ts';

/** A number with its exact value and its formula; a dash with its reason if there is none. */
export function numberHtml({ value, format, formula, why, open }: ShownNumber) {
  if (value === null) return html`<span class="none" title="${why ?? 'no value is stored'}">–</span>`;
  const text = formatNumber(value, format);
  return html`<data value="${value}" data-formula="${formulaText(formula)}" class="${open === undefined ? '' : 'open'}" title="${open ?? ''}">${text}</data>`;
}
