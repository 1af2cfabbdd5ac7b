import { html } from 'hono/html';
import type { Result } from '../data/result.ts';
import type { Page, Section } from '../page/page.ts';
import { resultsInText } from '../page/results-in-text.ts';
import { figureHtml } from './figure.ts';
import type { Frame } from './frame.ts';
import { headlinesHtml } from './headlines.ts';
import { pagerHtml, searchHtml } from './lists.ts';
import { sourcesHtml } from './sources.ts';
import { breakableHtml, type Markup, phraseHtml } from './text.ts';

/**
 * What a page says, without the document around it: heading, sentence, numbers and figures. A document with several pages
 * passes 2 as the level of their headings, and anchors in the frame.
 */
export function contentHtml(page: Page, frame: Frame, level: 1 | 2 = 1): Markup {
  const heading = breakableHtml(page.heading);
  const inText = resultsInText(page);
  const [first] = page.sections;
  // The queries of the sentence stand under the section below it, so that a page does not begin with two lines of them.
  const isJoined = first !== undefined && first.kind !== 'pair';
  const list = listOf(page);
  return html`${level === 1 ? html`<h1>${heading}</h1>` : html`<h2 class="page">${heading}</h2>`}
<p class="sentence">${phraseHtml(page.sentence, frame)}</p>
${isJoined ? '' : sourcesHtml({ results: inText })}${searchHtml(page, frame)}${page.sections.map(
  (section) => [
    sectionHtml(section, {
      frame,
      level: level === 1 ? 2 : 3,
      inText: isJoined && section === first ? inText : [],
    }),
    section === list ? pagerHtml(page, frame) : '',
  ],
)}`;
}

/** The section that the pager turns: the first one that shows a table. */
function listOf({ sections }: Page): Section | undefined {
  return sections.find((section) => section.kind === 'figure' && section.tableIs === 'shown');
}

function sectionHtml(
  section: Section,
  { frame, level, inText }: { frame: Frame; level: 2 | 3; inText: readonly Result[] },
): Markup {
  switch (section.kind) {
    case 'headlines':
      return headlinesHtml(section, inText);
    case 'pair':
      return html`<div class="pair">${section.figures.map((figure) => figureHtml(figure, frame, level))}</div>`;
    default:
      return figureHtml({ ...section, results: [...section.results, ...inText] }, frame, level);
  }
}
