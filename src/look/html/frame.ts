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
  readonly organizations: readonly string[];
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

/** The value of the filter `team` for people without a team. */
export const UNASSIGNED = 'unassigned';
