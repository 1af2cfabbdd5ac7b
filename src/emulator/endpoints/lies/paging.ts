import type { Lies } from '../../quirks/lies.ts';
import { endlessCursor } from '../cursors.ts';
import { applies, type RequestScope } from './days.ts';

/** The paging fields in `meta` of /users. A field that is undefined is left out. */
export interface Paging {
  readonly has_more: boolean | null | undefined;
  readonly next_cursor: string | null;
}

/** Where an honest page ends. */
export interface PageEnd {
  readonly hasMore: boolean;
  /** The cursor that continues here; null after a last page without users. */
  readonly cursor: string | null;
}

/** Chooses the cursor that selects the rows: that of the request, or none if every page shows the first rows. */
export function chooseCursor(sent: string | null, { samePage }: Lies, scope: RequestScope): string | null {
  return samePage !== undefined && applies(samePage, scope) ? null : sent;
}

/** Chooses the paging that a page shows. `sent` is the cursor of the request. */
export function choosePaging(
  end: PageEnd,
  sent: string | null,
  { samePage, paging }: Lies,
  scope: RequestScope,
): Paging {
  const honest = { has_more: end.hasMore, next_cursor: end.hasMore ? end.cursor : null };
  if (samePage !== undefined && sent !== null && applies(samePage, scope)) {
    if (samePage.says === 'ends') return { has_more: false, next_cursor: null };
    if (samePage.says === 'goes-on') return { has_more: true, next_cursor: endlessCursor(sent) };
  }
  if (paging === undefined || !applies(paging, scope)) return honest;
  switch (paging.says) {
    case 'flag-missing':
      return { ...honest, has_more: undefined };
    case 'flag-null':
      return { ...honest, has_more: null };
    case 'flag-false':
      return { ...honest, has_more: false };
    case 'no-cursor':
      return { ...honest, next_cursor: null };
    case 'cursor-at-end':
      return { ...honest, next_cursor: end.cursor };
  }
}
