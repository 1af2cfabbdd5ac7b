import { html } from 'hono/html';
import { formatNumber, formulaText, isDotted, type ShownNumber } from '../numbers.ts';
import type { LinkPart, Phrase } from '../page.ts';
import type { Filters } from '../reader.ts';

/** What surrounds a page: the dashboard has navigation and filters, a report has neither. */
export interface Frame {
  /** Links of the navigation, with the filters in them; none in a report. */
  readonly navigation: readonly {
    readonly name: string;
    readonly href: string;
    readonly isCurrent: boolean;
  }[];
  /** The form that sets the filters; absent in a report. */
  readonly form?: FilterForm;
  /** Name or ID of the organization. */
  readonly organization: string;
  readonly filters: Filters;
  /** The address of a path of Daywalk's pages; null where there is no such page, so that only the text is shown. */
  href(path: string): string | null;
  /** Facts for the footer, such as the version and the name of the warehouse. */
  readonly footer: readonly string[];
  /**
   * The address of the page itself with another order or another part of its list; the first part where none is given.
   * Null where there is one part only, and in a report.
   */
  here?(change: PageChange): string | null;
  /** Where the search field leads, and what its form carries besides the text `q`; absent in a report. */
  readonly search?: { readonly action: string; readonly fields: readonly FormField[] };
  /** Where the button to log out leads; absent where nobody logs in. */
  readonly logout?: string;
  /** Begins the anchors of the page, where a document holds several pages. */
  readonly anchors?: string;
  /** Path of the style sheet and the script of the dashboard; a report holds its style and has no script. */
  readonly assets?: { readonly style: string; readonly script: string };
}

/** What a link inside a list changes. */
export interface PageChange {
  /** The figure whose table is wanted as CSV, by its ID. */
  readonly csv?: string | undefined;
  readonly sort?: { readonly by: string; readonly descending: boolean } | undefined;
  readonly page?: number | undefined;
}

/** A field of a form that people do not see. */
export interface FormField {
  readonly name: string;
  readonly value: string;
}

/** What the form of filters offers. */
export interface FilterForm {
  /** Path of the page that the form leads to. */
  readonly action: string;
  readonly organizations: readonly { readonly orgId: string | null; readonly name: string | null }[];
  readonly teams: readonly string[];
  /** Ready periods: "This month", "Last month", "13 weeks", "All days". */
  readonly presets: readonly { readonly name: string; readonly href: string; readonly isCurrent: boolean }[];
  /** First and last day that can be chosen. */
  readonly min: string;
  readonly max: string;
  /** True to show the form at once, for example because a filter is wrong. */
  readonly isOpen?: boolean;
  /** What the form sends besides the filters, for example a search. */
  readonly fields?: readonly FormField[];
}

export type Markup = ReturnType<typeof html>;

/** Longer texts are cut; the rest opens on demand. */
const CHARACTERS_MAX = 120;
/** A title that a browser shows in a tab, or an address in a link, has no place for more. */
const TITLE_CHARACTERS_MAX = 160;
/** Characters that change the direction of the text after them. */
const DIRECTION = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/**
 * Text from the warehouse. Its direction does not reach beyond it, an empty one is named, and an endless one is cut, with
 * the whole text behind a click.
 */
export function textHtml(text: string, { isCode = false }: { isCode?: boolean } = {}): Markup {
  const characters = [...text];
  if (text.trim() === '') return html`<i class="muted">empty</i>`;
  if (characters.length <= CHARACTERS_MAX) return isolatedHtml(text, isCode);
  return html`<details class="long"><summary>${isolatedHtml(cut(text), isCode)}</summary>${isolatedHtml(text, isCode)}</details>`;
}

/** Text with numbers and links. */
export function phraseHtml(phrase: Phrase, frame: Frame): Markup[] {
  return phrase.map((part) => {
    if (typeof part === 'string') return wordsHtml(part);
    if (part.kind === 'number') return numberHtml(part, frame);
    if (part.kind === 'strong') return html`<strong>${phraseHtml(part.parts, frame)}</strong>`;
    if (part.kind === 'small') return html`<small>${phraseHtml(part.parts, frame)}</small>`;
    return linkHtml(part, frame);
  });
}

/** Words with commands between backticks. */
export function wordsHtml(words: string): Markup {
  const parts = words.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
  return DIRECTION.test(words) ? html`<bdi>${parts}</bdi>` : html`${parts}`;
}

/** A link inside Daywalk's pages; text only where there is no such page. */
export function linkHtml({ text, path, isAction = false }: LinkPart, frame: Frame): Markup {
  const href = frame.href(path);
  if (href === null && isAction) return html``;
  if (href === null) return textHtml(text);
  const name = text.trim() === '' ? html`<i>empty</i>` : breakableHtml(cut(text));
  return html`<a href="${href}">${name}</a>`;
}

/** At most as many characters as a line holds, with an ellipsis for the rest. */
export function cut(text: string, most: number = CHARACTERS_MAX): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** Parts of a document's title, without those that are empty. */
export function titleText(parts: readonly string[]): string {
  return parts
    .filter((part) => part.trim() !== '')
    .map((part) => cut(part.replaceAll(/\s+/g, ' '), TITLE_CHARACTERS_MAX))
    .join(' · ');
}

function isolatedHtml(text: string, isCode: boolean): Markup {
  return isCode ? html`<code>${breakableHtml(text)}</code>` : breakableHtml(text);
}

/** Text of its own direction. Addresses and paths in it break where their parts end rather than in the middle of a word. */
export function breakableHtml(text: string): Markup {
  if (text.length > TITLE_CHARACTERS_MAX) return html`<bdi>${text}</bdi>`;
  const parts = text.split(PART_END).map((part, index) => (index === 0 ? part : html`<wbr>${part}`));
  return html`<bdi>${parts}</bdi>`;
}

/** Between a character that ends a part of an address or a path and one that does not. */
const PART_END = /(?<=[./@_])(?=[^\s./@_])/;

/** A number with its exact value and its formula; a dash with its reason if there is none. */
export function numberHtml({ value, format, formula, why, open, path }: ShownNumber, frame?: Frame) {
  const source = formulaText(formula);
  if (value === null) {
    const reason = why ?? 'no value is stored';
    return html`<span class="none" data-formula="${source}" title="${reason}"><span aria-hidden="true">–</span><span class="hidden">no number: ${reason}</span></span>`;
  }
  const text = formatNumber(value, format);
  const number =
    open !== undefined && isDotted({ open })
      ? html`<data value="${value}" data-formula="${source}" class="open" title="${open.why}">${text}</data>`
      : html`<data value="${value}" data-formula="${source}">${text}</data>`;
  const href = path === undefined ? null : (frame?.href(path) ?? null);
  return href === null ? number : html`<a class="opens" href="${href}">${number}</a>`;
}
