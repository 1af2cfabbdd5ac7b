/**
 * Who reads a page:
 *
 * - `managers`: everything, including user IDs, emails and names.
 * - `team`: nothing that identifies a person; small groups are merged.
 * - `public`: also no commands of hooks, rationales and URLs of repositories.
 */
export const AUDIENCES = ['managers', 'team', 'public'] as const;
export type Audience = (typeof AUDIENCES)[number];

/** The dimensions whose groups consist of people. */
export const PEOPLE_DIMENSIONS = ['team', 'model', 'tier', 'language', 'delegation_level'] as const;
export type PeopleDimension = (typeof PEOPLE_DIMENSIONS)[number];

/** What readers may see. */
export interface Viewer {
  readonly audience: Audience;
  /** Groups of fewer people are merged. It has no effect for managers. */
  readonly minGroup: number;
  /** What was decided for this page and all that are published with it. Absent for managers, who see everything. */
  readonly limits?: Limits;
}

/** What readers other than managers may see of a period. */
export interface Limits {
  /** True if numbers of single weeks may be shown. Single days never are. */
  readonly weeks: boolean;
  /**
   * The names of the groups that may be shown alone, by dimension; all others are merged. Null while it is being decided.
   */
  readonly shown: ReadonlyMap<PeopleDimension, ReadonlySet<string>> | null;
}

/** The viewer of the dashboard: everything is shown. */
export const MANAGERS: Viewer = { audience: 'managers', minGroup: 1 };

/** True for readers who see no person: user IDs, emails, names and rows about one person are left out. */
export function isRestricted({ audience }: Viewer): boolean {
  return audience !== 'managers';
}

/** Names of groups that must not be shown alone. */
export type MergedGroups = Pick<ReadonlySet<string>, 'has'>;

/**
 * The groups of a dimension that the viewer must not see alone, for `groupsOf`. The same for all figures of a report, so
 * that none gives away by subtraction what another hides. The name of a group without one is {@link namelessOf} its dimension.
 */
export function mergedGroups({ limits }: Viewer, dimension: PeopleDimension): MergedGroups {
  const shown = limits?.shown ?? null;
  return { has: (name) => shown !== null && !(shown.get(dimension)?.has(name) ?? false) };
}

/** The buckets in which the viewer may see the period: weeks for readers other than managers, null if not even these. */
export function finestGrainOf({ limits }: Viewer): 'date' | 'week' | null {
  if (limits === undefined) return 'date';
  return limits.weeks ? 'week' : null;
}

/** What pages call the group without a name. */
export function namelessOf(dimension: PeopleDimension): string {
  return dimension === 'team' ? 'unassigned' : 'none';
}
