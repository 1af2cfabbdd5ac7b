import type { Page, Slice } from '../page.ts';
import type { PageReader } from '../reader.ts';

/** What the URL of a page says beyond the filters. */
export interface PageParams {
  /** The user ID, team, or other thing that a page of one thing is about: the rest of its path, decoded. */
  readonly subject?: string | undefined;
  /** What `/explore` is about, besides the filters. */
  readonly slice?: Slice | undefined;
  /** Text of the search field. */
  readonly search?: string | undefined;
  /** The column by which the table is sorted, and whether from the largest down. */
  readonly sort?: { readonly by: string; readonly descending: boolean } | undefined;
  /** Page of a long list, from 1. */
  readonly page?: number | undefined;
}

/** A page that the dashboard and the report can show. */
export interface PageKind {
  /** Such as `/models`; a page about one thing ends with `/:subject`. */
  readonly path: string;
  /** The name in the navigation; absent for pages about one thing. */
  readonly name?: string;
  /**
   * Builds the page. Call inside a snapshot.
   * @throws {UsageError} if the subject does not exist.
   */
  build(reader: PageReader, params: PageParams): Promise<Page>;
}
