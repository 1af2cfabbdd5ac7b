import { hashText } from '../../dataset/hash.ts';
import type { Lies } from '../../quirks/lies.ts';
import { applies, type RequestScope } from './days.ts';

/** What `meta` of /users has besides the organization and the range. A field that is undefined is left out. */
export interface Paging {
  readonly has_more: boolean | null | undefined;
  readonly next_cursor: string | null;
}

/** Where an honest page ends. */
export interface PageEnd {
  readonly hasMore: boolean;
  /** The cursor that leads on from here; null behind a page without users that is the last. */
  readonly cursor: string | null;
}

/** The cursor by which the rows of a page are chosen: the one that was sent, or none where each page is the first. */
export function chooseCursor(cursor: string | null, lies: Lies, asked: RequestScope): string | null {
  return lies.samePage !== undefined && applies(lies.samePage, asked) ? null : cursor;
}

/** The paging that a page shows, after the cursor that was sent. */
export function choosePaging(end: PageEnd, sent: string | null, lies: Lies, asked: RequestScope): Paging {
  const { samePage, paging } = lies;
  const honest = { has_more: end.hasMore, next_cursor: end.hasMore ? end.cursor : null };
  if (samePage !== undefined && sent !== null && applies(samePage, asked)) {
    if (samePage.says === 'ends') return { has_more: false, next_cursor: null };
    if (samePage.says === 'goes-on') return { has_more: true, next_cursor: cursorAfter(sent) };
  }
  if (paging === undefined || !applies(paging, asked)) return honest;
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

/** Another cursor than the one before, and the same each time that one is sent. */
function cursorAfter(sent: string): string {
  return `user_~${hashText(1, sent)}-${hashText(2, sent)}`;
}
