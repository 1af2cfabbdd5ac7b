/**
 * Who reads a report:
 *
 * - `managers`: everything, including user IDs, emails and names.
 * - `team` and `public`: published weeks and nothing else.
 */
export const AUDIENCES = ['managers', 'team', 'public'] as const;
export type Audience = (typeof AUDIENCES)[number];

/** Why no team is shown alone in any week. */
export const NO_TEAMS =
  'the first run after people are loaded publishes the teams of each week; if it has ended, each of them has too few people';
