/** The parts that an answer can be cut into. Which of them a metric has depends on its source. */
export const DIMENSIONS = [
  'date',
  'week',
  'month',
  'user',
  'team',
  'model',
  'tier',
  'client',
  'tool',
  'server',
  'skill',
  'slash_command',
  'hook',
  'language',
  'delegation_level',
  'repository',
] as const;

/** One of {@link DIMENSIONS}. `week` is the Monday of the week, `month` is `YYYY-MM`. */
export type Dimension = (typeof DIMENSIONS)[number];

/** The dimensions that cut the period into buckets. A question has at most one of them. */
export const GRAINS = ['date', 'week', 'month'] as const satisfies readonly Dimension[];

/** One of {@link GRAINS}. */
export type Grain = (typeof GRAINS)[number];

/** True for a dimension that cuts the period into buckets. */
export function isGrain(dimension: Dimension): dimension is Grain {
  return GRAINS.some((grain) => grain === dimension);
}
