import { html } from 'hono/html';
import type { Page } from '../page/page.ts';
import type { Frame } from './frame.ts';
import { fieldsHtml } from './header.ts';
import type { Markup } from './text.ts';

/** The search field of a page with a long list. */
export function searchHtml({ search }: Page, frame: Frame): Markup {
  if (search === undefined || frame.search === undefined) return html``;
  const { action, fields } = frame.search;
  return html`<form class="search" role="search" method="get" action="${action}">${fieldsHtml(fields)}
<label>Search ${search.label} <input type="search" name="q" value="${search.text}" maxlength="200" autocomplete="off"></label> <button>Search</button></form>`;
}

/** Links to the parts of a list that is longer than a page. */
export function pagerHtml({ pager }: Page, frame: Frame): Markup {
  if (pager === undefined || pager.pages < 2) return html``;
  const { page, pages } = pager;
  const part = (to: number, name: string, rel: string) => {
    const href = to < 1 || to > pages ? null : (frame.here?.({ page: to }) ?? null);
    return href === null
      ? html`<span class="muted">${name}</span>`
      : html`<a href="${href}" rel="${rel}">${name}</a>`;
  };
  return html`<nav class="pager" aria-label="Parts of the list">${part(page - 1, '← Previous', 'prev')} <span>${page} of ${pages}</span> ${part(page + 1, 'Next →', 'next')}</nav>`;
}
