import { html, raw } from 'hono/html';
import type { Figure, Headlines, Page, Phrase, Section } from '../page/page.ts';
import type { Frame } from './frame.ts';
import { numberHtml } from './number.ts';

type Markup = ReturnType<typeof html>;

/** A page as a document. */
export function pageHtml(page: Page, frame: Frame): Markup {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${page.name} · ${page.heading} · ${frame.organization}</title></head>
<body><main><h1>${page.heading}</h1><p class="sentence">${phraseHtml(page.sentence, frame)}</p>
${page.sections.map((section) => sectionHtml(section, frame))}</main></body></html>`;
}

function phraseHtml(phrase: Phrase, frame: Frame): Markup[] {
  return phrase.map((part) => {
    if (typeof part === 'string') return html`${part}`;
    if (part.kind === 'number') return numberHtml(part);
    if (part.kind === 'strong') return html`<strong>${phraseHtml(part.parts, frame)}</strong>`;
    const href = frame.href(part.path);
    return href === null ? html`${part.text}` : html`<a href="${href}">${part.text}</a>`;
  });
}

function sectionHtml(section: Section, frame: Frame): Markup {
  switch (section.kind) {
    case 'headlines':
      return headlinesHtml(section);
    case 'pair':
      return html`<div class="pair">${section.figures.map((figure) => figureHtml(figure, frame))}</div>`;
    default:
      return figureHtml(section, frame);
  }
}

function headlinesHtml({ headlines }: Headlines): Markup {
  return html`<dl>${headlines.map(({ title, number, change, against }) => html`<dt>${title}</dt><dd>${numberHtml(number)} ${numberHtml(change)} ${against}</dd>`)}</dl>`;
}

function figureHtml({ id, title, subtitle, chart, results }: Figure, _frame: Frame): Markup {
  return html`<section id="${id}"><h2>${title}</h2><p>${subtitle}</p>${raw(chart?.svg ?? '')}
${results.map((result) => html`<details><summary>SQL</summary><pre>${result.sql}</pre></details>`)}</section>`;
}
