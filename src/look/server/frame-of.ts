import type { Period } from '../../metrics/period.ts';
import type { FilterForm, Frame, PageChange } from '../html/frame.ts';
import { PAGE_KINDS } from '../pages/all-pages.ts';
import type { PageParams } from '../pages/page-kind.ts';
import type { Filters } from '../reader.ts';
import { ASSETS } from './answer.ts';
import type { Choices } from './page-request.ts';
import { type AskedFilters, FILTER_NAMES } from './page-request.ts';

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
    organization: filters.orgId,
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
  const view = [...searchIn(params), ...sortIn(params)];
  return {
    action: path,
    organizations: choices.organizations,
    teams: choices.teams,
    presets: choices.presets.map(({ name, period }) => ({
      name,
      href: addressOf(path, [...filtersIn({ ...asked, from: period?.from, until: period?.until }), ...view]),
      isCurrent: isSame(period ?? choices.usual, filters),
    })),
    min: choices.first,
    max: choices.last,
    isOpen: isRefused,
    fields: fieldsOf(view),
  };
}

/** The address of the page in another order, which begins at the first part, or of another part. */
function hereAfter({ path, asked, params }: Surroundings, { sort = params.sort, page }: PageChange): string {
  return addressOf(path, [
    ...filtersIn(asked),
    ...searchIn(params),
    ...sortIn({ sort }),
    ...(page === undefined || page === 1 ? [] : [['page', String(page)] as const]),
  ]);
}

type Parameter = readonly [name: string, value: string];

function filtersIn(asked: AskedFilters): Parameter[] {
  return FILTER_NAMES.flatMap((name) => {
    const value = asked[name];
    return value === undefined ? [] : [[name, value] as const];
  });
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

function addressOf(path: string, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return path;
  return `${path}?${new URLSearchParams(parameters.map(([name, value]) => [name, value] satisfies [string, string]))}`;
}

function isSame(a: Period, b: Period): boolean {
  return a.from === b.from && a.until === b.until;
}
