import { html, raw } from 'hono/html';
import { UNASSIGNED } from '../../rollups/index.ts';
import { sharedMarks } from '../charts/calendar.ts';
import { formulaText, type Result, type ShownNumber } from '../numbers.ts';
import type { Cell, Headline, Headlines, Page, Phrase, Section } from '../page.ts';
import { asSentence, periodHeading } from '../words.ts';
import { figureHtml, sourcesHtml } from './figure.ts';
import {
  breakableHtml,
  cut,
  type FilterForm,
  type FormField,
  type Frame,
  linkHtml,
  type Markup,
  numberHtml,
  phraseHtml,
  titleText,
  wordsHtml,
} from './text.ts';

/** A page as a document, with navigation and filters. */
export function pageHtml(page: Page, frame: Frame): Markup {
  const { assets } = frame;
  const links =
    assets === undefined
      ? ''
      : html`<link rel="stylesheet" href="${assets.style}"><script src="${assets.script}" defer></script>`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${titleOf(page, frame)}</title>
<link rel="icon" href="data:,">${links}</head>
<body>${raw(sharedMarks())}${headerHtml(frame)}
<main id="content" class="${page.isList === true ? 'wide list' : 'wide'}" tabindex="-1">${contentHtml(page, frame)}</main>
${footerHtml(frame)}</body></html>
`;
}

/** Page, period and organization; and what the page is about, if its heading says more. */
function titleOf({ name, heading }: Page, { filters, organization }: Frame): string {
  const period = periodHeading(filters);
  const about = heading.startsWith(name) ? [heading] : [name, heading];
  return titleText([...about, ...(heading.includes(period) ? [] : [period]), organization, 'Daywalk']);
}

/** Facts about the page: version, warehouse, organization; and the way out, where people log in. */
export function footerHtml({ footer, logout }: Frame): Markup {
  const out =
    logout === undefined
      ? ''
      : html`<form class="logout" method="post" action="${logout}"><button>Log out</button></form>`;
  return html`<footer class="wide"><p>${footer.map((fact, index) => html`${index === 0 ? '' : ' · '}<bdi>${fact}</bdi>`)}</p>${out}</footer>`;
}

/** The head of every page: navigation, the organization and period that the page shows, and the form that changes them. */
function headerHtml(frame: Frame): Markup {
  const { navigation, form } = frame;
  return html`<a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="wide"><nav aria-label="Pages"><a class="brand" href="${frame.href('/') ?? '#content'}">Daywalk</a>
<ul>${navigation.map(({ name, href, isCurrent }) => html`<li>${isCurrent ? html`<a href="${href}" aria-current="page">${name}</a>` : html`<a href="${href}">${name}</a>`}</li>`)}</ul></nav>
${form === undefined ? html`<p class="about">${aboutHtml(frame)}</p>` : formHtml(form, frame)}</div></header>`;
}

/** `Acme · platform · November 2026, 1 to 19`; without the organization where it has no name and there is no other one to choose. */
function aboutHtml({ organization, filters: { orgId, team, ...period }, form }: Frame): Markup {
  const isOnly = form !== undefined && form.organizations.length < 2 && organization === orgId;
  const parts = [
    ...(isOnly ? [] : [html`<bdi title="${cut(organization, 200)}">${shortName(organization)}</bdi>`]),
    ...(team === undefined ? [] : [html`<bdi>${cut(team ?? UNASSIGNED, 40)}</bdi>`]),
    periodHeading(period),
  ];
  return html`${parts.map((part, index) => html`${index === 0 ? '' : ' · '}${part}`)}`;
}

/** A long name by its ends: IDs of organizations begin alike. */
function shortName(name: string): string {
  const characters = [...name];
  if (characters.length <= NAME_CHARACTERS_MAX) return name;
  return `${characters.slice(0, 4).join('')}…${characters.slice(-6).join('')}`;
}

const NAME_CHARACTERS_MAX = 16;

function formHtml(form: FilterForm, frame: Frame): Markup {
  const { filters } = frame;
  const presets = form.presets.map(
    ({ name, href, isCurrent }) =>
      html`<li>${isCurrent ? html`<a href="${href}" aria-current="true">${name}</a>` : html`<a href="${href}">${name}</a>`}</li>`,
  );
  const content = html`<summary>${aboutHtml(frame)}</summary><div class="panel"><ul class="presets" aria-label="Periods">${presets}</ul>
<form method="get" action="${form.action}">${fieldsHtml(form.fields ?? [])}
<label>From <input type="date" name="from" value="${filters.from}" min="${form.min}" max="${form.max}" required></label>
<label>Until <input type="date" name="until" value="${filters.until}" min="${form.min}" max="${form.max}" required></label>
${organizationsHtml(form, frame)}${teamsHtml(form, frame)}<button>Show</button></form></div>`;
  return form.isOpen
    ? html`<details class="filters" open>${content}</details>`
    : html`<details class="filters">${content}</details>`;
}

function organizationsHtml({ organizations }: FilterForm, { filters }: Frame): Markup {
  if (organizations.length < 2) return html``;
  const options = organizations.map(({ orgId, name }) =>
    optionHtml(orgId ?? '', name ?? orgId ?? '', orgId === filters.orgId),
  );
  return html`<label>Organization <select name="org">${options}</select></label>`;
}

function teamsHtml({ teams }: FilterForm, { filters: { team } }: Frame): Markup {
  if (teams.length === 0) return html``;
  const names = teams.includes(UNASSIGNED) ? teams : [...teams, UNASSIGNED];
  const current = team === undefined ? '' : (team ?? UNASSIGNED);
  return html`<label>Team <select name="team">${optionHtml('', 'everybody', current === '')}${names.map((name) => optionHtml(name, name, name === current))}</select></label>`;
}

function optionHtml(value: string, name: string, isSelected: boolean): Markup {
  return isSelected
    ? html`<option value="${value}" selected>${cut(name, 60)}</option>`
    : html`<option value="${value}">${cut(name, 60)}</option>`;
}

/** Fields that a form carries along unseen. */
function fieldsHtml(fields: readonly FormField[]): Markup[] {
  return fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`);
}

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
  return html`${bannerHtml(page)}${crumbsHtml(page, frame)}<div class="title">${level === 1 ? html`<h1>${heading}</h1>` : html`<h2 class="page">${heading}</h2>`}${page.isList === true ? '' : trustHtml(page, frame)}</div>
<p class="sentence">${phraseHtml(page.sentence, frame)}</p>
${choicesHtml(page, frame)}${isJoined ? '' : sourcesHtml({ results: inText })}${searchHtml(page, frame)}${page.sections.map(
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

function crumbsHtml({ crumbs = [] }: Page, frame: Frame): Markup {
  if (crumbs.length === 0) return html``;
  return html`<nav class="crumbs" aria-label="Pages above">${crumbs.map((crumb, index) => html`${index === 0 ? '' : ' › '}${linkHtml(crumb, frame)}`)}</nav>`;
}

/** What the page has chosen, and what else it could. */
function choicesHtml({ choices = [] }: Page, frame: Frame): Markup {
  if (choices.length === 0) return html``;
  return html`<dl class="choices">${choices.map(({ label, parts }) => html`<div><dt>${label}</dt><dd>${phraseHtml(parts, frame)}</dd></div>`)}</dl>`;
}

function bannerHtml({ banner }: Page): Markup {
  if (banner === undefined) return html``;
  return html`<aside class="banner" aria-label="What is missing"><p><strong>${banner.title}</strong></p><p>${wordsHtml(banner.text)}</p></aside>`;
}

/** The section that the pager turns: the first one that shows a table. */
function listOf({ sections }: Page): Section | undefined {
  return sections.find((section) => section.kind === 'figure' && section.isTableFolded !== true);
}

function sectionHtml(
  section: Section,
  { frame, level, inText }: { frame: Frame; level: 2 | 3; inText: readonly Result[] },
): Markup {
  switch (section.kind) {
    case 'headlines':
      return headlinesHtml(section, inText, frame);
    case 'pair':
      return html`<div class="${section.isUneven === true ? 'pair uneven' : 'pair'}">${section.figures.map((figure) => figureHtml(figure, frame, level))}</div>`;
    default:
      return figureHtml({ ...section, results: [...section.results, ...inText] }, frame, level);
  }
}

/**
 * Up to four numbers in a row, each with its change and its weeks; two by two where the page is narrow. Under them are their
 * queries, and those of the sentence above them.
 */
function headlinesHtml({ headlines }: Headlines, inText: readonly Result[], frame: Frame): Markup {
  const results = [...headlines.flatMap(({ results: own }) => own), ...inText];
  return html`<section class="headlines" aria-label="Main numbers"><dl>${headlines.map((headline) => headlineHtml(headline, frame))}</dl>
${sourcesHtml({ results })}</section>`;
}

function headlineHtml({ title, number, unit, change, against, line }: Headline, frame: Frame): Markup {
  return html`<div><dt>${title}</dt>
<dd class="main">${numberHtml(number, frame)}${unit === undefined || unit === '' ? '' : html` <span class="unit">${unit}</span>`}</dd>
<dd class="change">${changeHtml(number, change, against)}</dd>
${line === undefined ? '' : html`<dd class="weeks">${raw(line.svg)}</dd>`}</div>`;
}

/** A number or a change that cannot be shown gives its reason in the open, because it often is a hole. */
function changeHtml(number: ShownNumber, change: ShownNumber, against: string): Markup {
  if (number.value === null) return html`${wordsHtml(asSentence(number.why ?? 'no value is stored'))}`;
  if (change.value === null) return html`– ${change.why ?? 'there is nothing to compare with'}`;
  return html`<b>${numberHtml(change)}</b> against ${against}`;
}

/** The search field of a page with a long list. */
function searchHtml(page: Page, frame: Frame): Markup {
  const { search } = page;
  if (search === undefined || frame.search === undefined) return html``;
  const { action, fields } = frame.search;
  return html`<form class="search" role="search" method="get" action="${action}">${fieldsHtml(fields)}
<input type="search" name="q" aria-label="Search ${search.label}" placeholder="${search.example}" value="${search.text}" maxlength="200" autocomplete="off"> <button>Search</button>${page.isList === true ? trustHtml(page, frame) : ''}</form>`;
}

function trustHtml({ trust }: Page, frame: Frame): Markup {
  return trust === undefined ? html`` : html`<p class="trust">${phraseHtml(trust, frame)}</p>`;
}

/** Links to the parts of a list that is longer than a page. */
function pagerHtml({ pager }: Page, frame: Frame): Markup {
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

/** The results that numbers of a page follow from and that no figure or headline lists: those of its sentence, mostly. */
function resultsInText(page: Page): Result[] {
  const listed = new Set(page.sections.flatMap(resultsOf).map(({ id }) => id));
  const numbers = numbersOf(page).filter(({ value }) => value !== null);
  const used = new Set(numbers.flatMap(({ formula }) => formulaText(formula).match(/\bq\d+\b/g) ?? []));
  return (page.asked ?? []).filter(({ id }) => used.has(id) && !listed.has(id));
}

function resultsOf(section: Section): readonly Result[] {
  switch (section.kind) {
    case 'headlines':
      return section.headlines.flatMap(({ results }) => results);
    case 'pair':
      return section.figures.flatMap(({ results }) => results);
    default:
      return section.results;
  }
}

function numbersOf({ sentence, sections }: Page): ShownNumber[] {
  return [...numbersIn(sentence), ...sections.flatMap(numbersInSection)];
}

function numbersInSection(section: Section): ShownNumber[] {
  if (section.kind === 'headlines')
    return section.headlines.flatMap(({ number, change }) => [number, change]);
  const figures = section.kind === 'pair' ? section.figures : [section];
  return figures.flatMap(({ table, notes = [] }) => [
    ...table.rows.flat().flatMap(numbersInCell),
    ...notes.flatMap(numbersIn),
  ]);
}

function numbersIn(phrase: Phrase): ShownNumber[] {
  return phrase.flatMap((part) => {
    if (typeof part === 'string' || part.kind === 'link') return [];
    return part.kind === 'number' ? [part] : numbersIn(part.parts);
  });
}

function numbersInCell(cell: Cell): ShownNumber[] {
  if (cell.kind === 'phrase') return numbersIn(cell.parts);
  return cell.kind === 'number' ? [cell] : [];
}
