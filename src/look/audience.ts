/**
 * Who reads a report:
 *
 * - `managers`: everything, including user IDs, emails and names.
 * - `team` and `public`: published weeks and nothing else.
 */
export const AUDIENCES = ['managers', 'team', 'public'] as const;
export type Audience = (typeof AUDIENCES)[number];
