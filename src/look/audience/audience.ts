/**
 * Who reads a page:
 *
 * - `managers`: everything, including user IDs, emails and names.
 * - `team`: nothing that identifies a person; small groups are merged.
 * - `public`: also no commands of hooks, rationales and URLs of repositories.
 */
export const AUDIENCES = ['managers', 'team', 'public'] as const;
export type Audience = (typeof AUDIENCES)[number];

/** What readers may see. */
export interface Viewer {
  readonly audience: Audience;
  /** Groups of fewer people are merged. It has no effect for managers. */
  readonly minGroup: number;
}

/** The viewer of the dashboard: everything is shown. */
export const MANAGERS: Viewer = { audience: 'managers', minGroup: 1 };
