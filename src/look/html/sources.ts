import { html } from 'hono/html';
import { shiftDay, type UtcDay } from '../../core/day.ts';
import type { Result } from '../data/result.ts';
import { dayName, daysWords, instantWords } from '../words/spans.ts';
import type { Markup } from './text.ts';

/** As much of a run's ID as tells it from others. */
const RUN_CHARACTERS = 6;

/** The line under numbers: their SQL, perhaps their folded table, and what they rest on. */
export function sourcesHtml({
  results,
  table,
}: {
  results: readonly Result[];
  table?: Markup | undefined;
}): Markup {
  const own = [...new Map(results.map((result) => [result.id, result])).values()];
  if (own.length === 0 && table === undefined) return html``;
  return html`<div class="sources">${own.length === 0 ? '' : html`<details class="sql"><summary>SQL</summary>${own.map(queryHtml)}</details>`}
${table === undefined ? '' : html`<details class="folded"><summary>Table</summary>${table}</details>`}
${basisHtml(own)}</div>`;
}

/** A query with its exact text, and the days that its numbers rest on, for formulas that count them. */
function queryHtml({ id, title, sql, basis: { from, until, days } }: Result): Markup {
  return html`<div class="query"><p>${id} · ${title}</p>
<pre tabindex="0"><code data-query="${id}" data-from="${from}" data-until="${until}" data-expected="${days.expected}" data-settled="${days.settled}" data-unsettled="${days.unsettled.join(' ')}" data-missing="${days.missing.join(' ')}">${sql}</code></pre></div>`;
}

/** `settled to 17 November · run 2f64c1 · 20 Nov 03:00 UTC`; days that are open or missing before that are named. */
function basisHtml(results: readonly Result[]): Markup {
  const parts = [...daysParts(results), ...runParts(results)];
  if (parts.length === 0) return html``;
  return html`<p class="basis">${parts.map((part, index) => html`${index === 0 ? '' : ' · '}${part}`)}</p>`;
}

function daysParts(results: readonly Result[]): (string | Markup)[] {
  const bases = results.map(({ basis }) => basis).filter(({ days }) => days.expected > 0);
  const last = bases
    .map(({ until }) => until)
    .sort()
    .at(-1);
  const first = bases.map(({ from }) => from).sort()[0];
  if (last === undefined || first === undefined) return [];
  const unsettled = new Set(bases.flatMap(({ days }) => days.unsettled));
  const missing = new Set(bases.flatMap(({ days }) => days.missing));
  let settled: UtcDay = last;
  while (settled >= first && (unsettled.has(settled) || missing.has(settled)))
    settled = shiftDay(settled, -1);
  const before = [...unsettled].filter((day) => day < settled);
  return [
    settled < first
      ? 'no day is settled'
      : html`settled to <time datetime="${settled}">${dayName(settled)}</time>`,
    ...(before.length === 0 ? [] : [`not settled: ${daysWords(before)}`]),
    ...(missing.size === 0 ? [] : [`missing: ${daysWords([...missing])}`]),
  ];
}

/** The newest of the runs that changed what the numbers rest on. */
function runParts(results: readonly Result[]): (string | Markup)[] {
  const runs = results.flatMap(({ basis }) => basis.run ?? []);
  const run = runs.toSorted((a, b) => ((a.endedAt ?? '') < (b.endedAt ?? '') ? 1 : -1))[0];
  if (run === undefined) return [];
  const name = html`run <span title="${run.id}">${run.id.slice(0, RUN_CHARACTERS)}</span>`;
  return run.endedAt === null
    ? [name]
    : [name, html`<time datetime="${run.endedAt}">${instantWords(run.endedAt)}</time>`];
}
