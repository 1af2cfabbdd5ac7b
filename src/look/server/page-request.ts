import { DIMENSIONS } from '../../../schema/metrics/dictionary.ts';
import { sql } from '../../../schema/query.ts';
import { COMPARISONS, type Comparison } from '../../comparison/index.ts';
import {
  expectOver,
  FIRST_DAY,
  monthOf,
  parseDay,
  shiftDay,
  type UtcDay,
  yesterdayOf,
} from '../../core/day.ts';
import { messageOf, nearestName, UsageError } from '../../core/errors.ts';
import { type Contract, spanStart } from '../../expected/index.ts';
import { readUnits } from '../../ledger/index.ts';
import { findTeam, isLoaded, type Period, resolvePeriod } from '../../metrics/index.ts';
import { chooseOrganization, type ListedOrganization, listOrganizations } from '../../organizations/index.ts';
import type { Warehouse } from '../../port/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import { isDayUnit, type LedgerDay } from '../../units/index.ts';
import type { FilterForm, Frame, PageChange } from '../html/text.ts';
import { PAGE_KINDS } from '../pages/all-pages.ts';
import type { PageKind, PageParams } from '../pages/page-kind.ts';
import type { Filters, Today } from '../reader.ts';
import { completeWeeks } from '../time-spans.ts';
import { readToday } from '../trust.ts';
import { ASSETS } from './answer.ts';

/** The filters as the URL writes them. What is missing or empty was not asked for. */
interface AskedFilters {
  readonly org?: string | undefined;
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  readonly team?: string | undefined;
  readonly compare?: string | undefined;
}

/** What a URL asks for. */
export interface PageRequest {
  readonly kind: PageKind;
  /** The path as the URL writes it. */
  readonly path: string;
  readonly params: PageParams;
  readonly asked: AskedFilters;
  /** The figure whose table is asked for as CSV, by its ID. */
  readonly csv?: string | undefined;
}

/** The names of the filters in URLs. */
const FILTER_NAMES = ['org', 'from', 'until', 'team', 'compare'] as const;

const PAGES_MAX = 1_000_000;
const SUBJECT = '/:subject';

/**
 * Reads a URL of a page; null if there is no such page.
 * @throws {UsageError} for a parameter that cannot be.
 */
export function readPageRequest({ pathname, searchParams }: URL): PageRequest | null {
  for (const kind of PAGE_KINDS) {
    const subject = subjectIn(kind, pathname);
    if (subject === null) continue;
    const { sort, page, search } = viewOf(searchParams);
    const slice = sliceIn(kind, searchParams);
    return {
      kind,
      path: pathname,
      params: { subject, sort, page, search, slice },
      asked: Object.fromEntries(FILTER_NAMES.map((name) => [name, textOf(searchParams, name)])),
      csv: textOf(searchParams, 'csv'),
    };
  }
  return null;
}

/** What a page is about that has more filters than others; undefined for another page. */
const SLICE_NAMES = ['model', 'person', 'by', 'value'] as const;
const VIEW_NAMES = ['csv', 'page', 'sort', 'q'] as const;
/** What looks like one of these would be a filter that is left out in silence. */
const TELLING = [...SLICE_NAMES, ...FILTER_NAMES, ...VIEW_NAMES, ...DIMENSIONS, 'organization'];

function sliceIn({ path }: PageKind, params: URLSearchParams): PageParams['slice'] {
  const own = path === '/explore' ? SLICE_NAMES : [];
  const known: readonly string[] = [...own, ...FILTER_NAMES, ...VIEW_NAMES];
  const others = [...params.keys()].filter((name) => !known.includes(name));
  const foreign = others.find((name) => nearestName(name, TELLING) !== undefined);
  if (foreign !== undefined)
    throw new UsageError(`"${foreign}" is no filter of this page`, {
      hint: `choose from ${known.join(', ')}`,
    });
  return own.length === 0 ? undefined : Object.fromEntries(own.map((name) => [name, textOf(params, name)]));
}

/** The subject of a page's path, undefined for a page without one; null if the path leads to another page. */
function subjectIn({ path }: PageKind, pathname: string): string | undefined | null {
  if (!path.endsWith(SUBJECT)) return path === pathname ? undefined : null;
  const start = path.slice(0, 1 - SUBJECT.length);
  if (!pathname.startsWith(start) || pathname === start) return null;
  try {
    return decodeURIComponent(pathname.slice(start.length));
  } catch {
    return null;
  }
}

function viewOf(params: URLSearchParams): Pick<PageParams, 'search' | 'sort' | 'page'> {
  const sort = textOf(params, 'sort');
  const page = textOf(params, 'page');
  if (page !== undefined && !(/^[1-9]\d{0,6}$/.test(page) && Number(page) <= PAGES_MAX)) {
    throw new UsageError(`"${page}" is not the number of a page`, { hint: 'count pages from 1' });
  }
  return {
    search: textOf(params, 'q'),
    sort: sort === undefined ? undefined : { by: sort.replace(/^-/, ''), descending: sort.startsWith('-') },
    page: page === undefined ? undefined : Number(page),
  };
}

function textOf(params: URLSearchParams, name: string): string | undefined {
  const given = new Set(params.getAll(name).map((value) => value.trim()));
  given.delete('');
  if (given.size > 1) throw new UsageError(`${name} is given ${given.size} times`, { hint: 'give it once' });
  return [...given][0];
}

/** A period that people choose often. */
interface Preset {
  readonly name: string;
  /** Null for the period that a page has without filters. */
  readonly period: Period | null;
}

/** What can be chosen in a warehouse for an organization. */
export interface Choices {
  readonly today: Today;
  readonly orgId: string;
  /** Those of the warehouse, with their IDs and names. */
  readonly organizations: readonly ListedOrganization[];
  /** Names of teams, and the word for none if there is any. */
  readonly teams: readonly string[];
  /** The period without filters: the expected days of the month of the newest loaded day, up to it. */
  readonly usual: Period;
  readonly first: UtcDay;
  readonly last: UtcDay;
  readonly presets: readonly Preset[];
}

const PRESET_WEEKS = 13;

/**
 * Reads what can be chosen; null if the warehouse holds no organization, or no day of the one that was asked for.
 * @throws {UsageError} if the warehouse does not hold that organization.
 */
export async function readChoices(
  warehouse: Warehouse,
  asked: string | undefined,
  now: Date,
): Promise<Choices | null> {
  const organizations = await listOrganizations(warehouse, null);
  const [first] = organizations.flatMap(({ orgId }) => orgId ?? []).toSorted();
  if (first === undefined) return null;
  const orgId = asked === undefined ? first : await chooseOrganization(warehouse, asked);
  const units = await readUnits(warehouse, orgId);
  const today = await readToday(warehouse, orgId, { units, now });
  const { contract } = today.expectation;
  const days = units.filter(isDayUnit);
  const newest = newestOf(days.filter(({ stream }) => stream === 'users')) ?? newestOf(days);
  const until = newest ?? yesterdayOf(now);
  const usual = { from: spanStart(monthOf(until), until, contract), until };
  const oldest = days.reduce((earliest, { day }) => (day < earliest ? day : earliest), until);
  const teams = await readTeams(warehouse, orgId);
  return {
    orgId,
    organizations,
    teams,
    usual,
    today,
    first: FIRST_DAY,
    last: later(until, yesterdayOf(now)),
    presets: presetsOf(usual, oldest, contract),
  };
}

/**
 * The filters of a page: what was asked for, and what it has otherwise.
 * @throws {UsageError} for a day, period or team that cannot be.
 */
export async function readFilters(
  warehouse: Warehouse,
  asked: AskedFilters,
  choices: Choices,
): Promise<Filters> {
  const { orgId, usual, last, today } = choices;
  const { contract } = today.expectation;
  const from = askedDay('first', asked.from);
  const until =
    askedDay('last', asked.until) ?? (from === undefined || from <= usual.until ? usual.until : from);
  expectOver(until, last);
  const begin = from ?? spanStart(monthOf(until), until, contract);
  const period = resolvePeriod([], ['users'], { from: begin, until });
  const team = asked.team === undefined ? undefined : await findTeam(warehouse, orgId, asked.team);
  const comparison = comparisonOf(asked.compare);
  return { orgId, ...period, team, comparison, firstDay: contract.firstDay, today };
}

function comparisonOf(asked: string | undefined): Comparison | undefined {
  const known = COMPARISONS.find((name) => name === asked);
  if (asked === undefined || known !== undefined) return known;
  throw new UsageError(`"${asked}" is no way to compare`, {
    hint: `choose one of ${COMPARISONS.join(', ')}`,
  });
}

function askedDay(which: string, text: string | undefined): UtcDay | undefined {
  try {
    return text === undefined ? undefined : parseDay(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`the ${which} day: ${messageOf(error)}`, { hint: error.hint });
  }
}

function later(a: UtcDay, b: UtcDay): UtcDay {
  return a > b ? a : b;
}

function newestOf(days: readonly LedgerDay[]): UtcDay | undefined {
  return days
    .filter(isLoaded)
    .reduce<UtcDay | undefined>(
      (newest, { day }) => (newest === undefined || day > newest ? day : newest),
      undefined,
    );
}

async function readTeams(warehouse: Warehouse, orgId: string): Promise<string[]> {
  const found = await warehouse.select(sql`SELECT DISTINCT team FROM people WHERE org_id = ${orgId}`);
  const teams = found.flatMap(({ team }) => (typeof team === 'string' ? team : [])).toSorted();
  return teams.length === 0 ? [] : [...teams, UNASSIGNED];
}

function presetsOf({ until }: Period, oldest: UtcDay, { firstDay }: Pick<Contract, 'firstDay'>): Preset[] {
  const endBefore = shiftDay(monthOf(until), -1);
  const weeks = completeWeeks({ until, firstDay }, PRESET_WEEKS);
  const least = spanStart(FIRST_DAY, until, { firstDay });
  return [
    { name: 'This month', period: null },
    ...(endBefore < least
      ? []
      : [{ name: 'Last month', period: { from: later(monthOf(endBefore), least), until: endBefore } }]),
    ...(weeks === null ? [] : [{ name: `Last ${PRESET_WEEKS} weeks`, period: weeks }]),
    { name: 'All days', period: { from: later(oldest, least), until } },
  ];
}

/** What is around a page of the dashboard. */
export interface Surroundings {
  /** The path as the URL writes it. */
  readonly path: string;
  readonly asked: AskedFilters;
  readonly params: PageParams;
  readonly filters: Filters;
  readonly choices: Choices;
  readonly footer: readonly string[];
  /** Where the button to log out leads; absent without a login. */
  readonly logout?: string | undefined;
  /** True if what was asked for cannot be shown. */
  readonly isRefused: boolean;
}

/** The frame of a page: navigation, filters and links that keep what was asked for. */
export function frameOf(around: Surroundings): Frame {
  const { path, asked, filters, footer, logout } = around;
  const link = (to: string) => addressOf(to, filtersIn(asked));
  return {
    navigation: PAGE_KINDS.flatMap((kind) =>
      kind.name === undefined
        ? []
        : [{ name: kind.name, href: link(kind.path), isCurrent: kind.path === path }],
    ),
    form: formOf(around),
    organization:
      around.choices.organizations.find(({ orgId }) => orgId === filters.orgId)?.name ?? filters.orgId,
    filters,
    href: link,
    here: (change) => hereAfter(around, change),
    search: { action: path, fields: fieldsOf([...filtersIn(asked), ...sortIn(around.params)]) },
    footer: [...footer, `organization ${filters.orgId}`],
    ...(logout === undefined ? {} : { logout }),
    assets: ASSETS,
  };
}

function formOf({ path, asked, params, filters, choices, isRefused }: Surroundings): FilterForm {
  const view = [...sliceParameters(params), ...searchIn(params), ...sortIn(params)];
  const { usual, presets } = choices;
  return {
    action: path,
    organizations: choices.organizations,
    teams: choices.teams,
    presets: presets.map(({ name, period }) => ({
      name,
      href: addressOf(path, [...filtersIn({ ...asked, from: period?.from, until: period?.until }), ...view]),
      isCurrent: filters.from === (period ?? usual).from && filters.until === (period ?? usual).until,
    })),
    min: choices.first,
    max: choices.last,
    isOpen: isRefused,
    fields: fieldsOf(view),
  };
}

/** The address of the page in another order, which begins at the first part, or of another part. */
function hereAfter(
  { path, asked, params }: Surroundings,
  { sort = params.sort, csv, page = csv === undefined ? undefined : params.page }: PageChange,
): string {
  return addressOf(path, [
    ...filtersIn(asked),
    ...sliceParameters(params),
    ...searchIn(params),
    ...sortIn({ sort }),
    ...(page === undefined || page === 1 ? [] : [['page', String(page)] as const]),
    ...(csv === undefined ? [] : [['csv', csv] as const]),
  ]);
}

type Parameter = readonly [name: string, value: string];

const filtersIn = (asked: AskedFilters): Parameter[] => givenOf(FILTER_NAMES, asked);
const sliceParameters = ({ slice = {} }: PageParams): Parameter[] => givenOf(SLICE_NAMES, slice);

function givenOf<Name extends string>(
  names: readonly Name[],
  values: Readonly<Partial<Record<Name, string | undefined>>>,
): Parameter[] {
  return names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]] as const]));
}

function searchIn({ search }: PageParams): Parameter[] {
  return search === undefined ? [] : [['q', search]];
}

function sortIn({ sort }: Pick<PageParams, 'sort'>): Parameter[] {
  return sort === undefined ? [] : [['sort', `${sort.descending ? '-' : ''}${sort.by}`]];
}

function fieldsOf(parameters: readonly Parameter[]) {
  return parameters.map(([name, value]) => ({ name, value }));
}

/** What the path itself says goes before the parameters. */
function addressOf(path: string, parameters: readonly Parameter[]): string {
  const [pathname = path, query = ''] = path.split('?');
  const own = new URLSearchParams(query);
  for (const [name, value] of parameters) if (!own.has(name)) own.append(name, value);
  // An empty one only keeps that of the page out.
  for (const [name, value] of [...own]) if (value === '') own.delete(name);
  return own.size === 0 ? pathname : `${pathname}?${own}`;
}
