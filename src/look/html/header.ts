import { html } from 'hono/html';
import { periodHeading } from '../words/spans.ts';
import { type FilterForm, type FormField, type Frame, UNASSIGNED } from './frame.ts';
import { cut, type Markup } from './text.ts';

/** The head of every page: navigation, the organization and period that the page shows, and the form that changes them. */
export function headerHtml(frame: Frame): Markup {
  const { navigation, form } = frame;
  return html`<a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="wide"><nav aria-label="Pages"><a class="brand" href="${frame.href('/') ?? '#content'}">Daywalk</a>
<ul>${navigation.map(({ name, href, isCurrent }) => html`<li>${isCurrent ? html`<a href="${href}" aria-current="page">${name}</a>` : html`<a href="${href}">${name}</a>`}</li>`)}</ul></nav>
${form === undefined ? html`<p class="about">${aboutHtml(frame)}</p>` : formHtml(form, frame)}</div></header>`;
}

/** `Acme · platform · November 2026, 1 to 19`; without the organization where there is no other one to choose. */
function aboutHtml({ organization, filters: { team, ...period }, form }: Frame): Markup {
  const isOnly = form !== undefined && form.organizations.length < 2;
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

function organizationsHtml({ organizations }: FilterForm, { organization }: Frame): Markup {
  if (organizations.length < 2) return html``;
  return html`<label>Organization <select name="org">${organizations.map((name) => optionHtml(name, name, name === organization))}</select></label>`;
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
export function fieldsHtml(fields: readonly FormField[]): Markup[] {
  return fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`);
}
