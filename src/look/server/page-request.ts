import { UsageError } from '../../core/errors.ts';
import { PAGE_KINDS } from '../pages/kinds.ts';
import type { PageKind, PageParams } from '../pages/page-kind.ts';

/** The filters as the URL writes them. What is missing or empty was not asked for. */
export interface AskedFilters {
  readonly org?: string | undefined;
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  readonly team?: string | undefined;
}

/** What a URL asks for. */
export interface PageRequest {
  readonly kind: PageKind;
  /** The path as the URL writes it. */
  readonly path: string;
  readonly params: PageParams;
  readonly asked: AskedFilters;
}

/** The names of the filters in URLs. */
export const FILTER_NAMES = ['org', 'from', 'until', 'team'] as const;

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
    return {
      kind,
      path: pathname,
      params: { subject, sort, page, search },
      asked: Object.fromEntries(FILTER_NAMES.map((name) => [name, textOf(searchParams, name)])),
    };
  }
  return null;
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
  const value = params.get(name)?.trim() ?? '';
  return value === '' ? undefined : value;
}
