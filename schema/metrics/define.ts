import type { Stream } from '../../src/core/stream.ts';
import type { AnyTable } from '../define.ts';
import type { ColumnOf } from '../row.ts';

/** Rows that metrics are computed from: a table, and the columns that its rows can be grouped by. */
export interface Source {
  readonly table: AnyTable;
  /** The stream whose units say which days are stored. */
  readonly stream: Stream;
  /** The streams without which a day is not whole. @default the stream */
  readonly streams?: readonly Stream[] | undefined;
  /** The column of each dimension, or the columns that together name one. */
  readonly columns: DimensionColumns;
  /** True if each row belongs to a user, whose team on the day is known from `user_teams`. */
  readonly hasUsers: boolean;
  /** The rollups that hold the same numbers in fewer rows. */
  readonly rollups: SourceRollups;
}

/** Rows by user and week, by user and month, and by day and team, or by day, team and model. */
export type SourceRollups = Partial<Readonly<Record<'weekly' | 'monthly' | 'teams', AnyTable>>>;

type DimensionColumns = Partial<Readonly<Record<Dimension, readonly string[]>>>;

/** A number that is computed from a group of rows. */
export type Term =
  /** The sum of each of some columns over the group, added; only over rows with a certain value, if `where` is given. */
  | { readonly kind: 'sum'; readonly columns: readonly string[]; readonly where?: RowCondition }
  /** The number of distinct users in the group. */
  | { readonly kind: 'users' }
  /** Billable tokens times the price of their day. */
  | { readonly kind: 'cost' };

/** Selects rows by the value of a column. Rollups of users have the sum over such rows in a column of its own. */
interface RowCondition {
  readonly column: string;
  readonly equals: string;
  readonly rollupColumn: string;
}

/** How a metric is computed. */
export type Measure =
  /** A sum or a count, computed for every group. */
  | { readonly kind: 'term'; readonly term: Term }
  /** One term divided by another, both recomputed for every group; NULL if the denominator is 0 or absent. */
  | { readonly kind: 'ratio'; readonly numerator: Term; readonly denominator: Term }
  /** A number of one day, exactly as published. */
  | SnapshotMeasure
  /** The number of users whose first row ever is in the group. */
  | { readonly kind: 'new users' }
  /** The number of people who are valid on the last day of the bucket. */
  | { readonly kind: 'licensed users' }
  /** The number of those whose users have no row in the bucket. */
  | { readonly kind: 'inactive users' }
  /** The mean over repositories of the score of their latest report at the end of the bucket. */
  | { readonly kind: 'readiness score' };

export interface SnapshotMeasure {
  readonly kind: 'snapshot';
  readonly column: string;
  /** The metric that answers the same question for longer periods. */
  readonly instead: string;
  /** The dimension without which a day has several numbers. */
  readonly needs?: Dimension;
}

/**
 * How the values of a metric may be combined:
 *
 * - `sum`: they add up over every dimension.
 * - `distinct count`: a user is counted once in each group, so groups do not add up.
 * - `ratio`: recomputed for each group from numerator and denominator.
 * - `end of period`: the state on the last day of the period.
 * - `one day only`: published for one day and never combined.
 */
export type Additivity = 'sum' | 'distinct count' | 'ratio' | 'end of period' | 'one day only';

/** A metric: one number with one definition and one source. */
export interface Metric {
  readonly name: string;
  readonly title: string;
  /** For example users or credits. `currency` stands for the currency of the prices. */
  readonly unit: string;
  readonly doc: string;
  readonly source: Source;
  /** The source of the dimensions that `source` lacks: the same numbers in parts. */
  readonly breakdown?: Source;
  /** Further tables that the computation reads, besides the teams of users. */
  readonly alsoReads?: readonly AnyTable[];
  readonly measure: Measure;
}

/** Declares a source, see {@link Source}. */
export function source<T extends AnyTable>(spec: {
  table: T;
  stream: Stream;
  columns?: Partial<Readonly<Record<Dimension, readonly ColumnOf<T>[]>>>;
  hasUsers?: boolean;
  rollups?: SourceRollups;
  streams?: readonly Stream[];
}): Source {
  const { table, stream, columns = {}, hasUsers = false, rollups = {}, streams } = spec;
  return { table, stream, streams, columns, hasUsers, rollups };
}

/** The term that adds up columns, for {@link Measure}. */
export function sum(...columns: readonly string[]): Term {
  return { kind: 'sum', columns };
}

/** The term that counts distinct users. */
export const distinctUsers: Term = { kind: 'users' };

/** The dimensions that a metric can be cut by, in the order of {@link DIMENSIONS}. */
export function dimensionsOf({ source: { columns, hasUsers }, breakdown }: Metric): readonly Dimension[] {
  const own = new Set<string>([
    ...GRAINS,
    ...(hasUsers ? ['user', 'team'] : []),
    ...Object.keys(columns),
    ...Object.keys(breakdown?.columns ?? {}),
  ]);
  return DIMENSIONS.filter((dimension) => own.has(dimension));
}

/** How the values of a metric may be combined. */
export function additivityOf({ measure }: Metric): Additivity {
  switch (measure.kind) {
    case 'term':
      return measure.term.kind === 'users' ? 'distinct count' : 'sum';
    case 'new users':
      return 'sum';
    case 'ratio':
      return 'ratio';
    case 'snapshot':
      return 'one day only';
    default:
      return 'end of period';
  }
}

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
