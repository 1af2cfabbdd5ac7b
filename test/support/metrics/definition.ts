import type { Dimension } from '../../../schema/metrics/define.ts';
import type { Value } from '../../../schema/row.ts';
import type { Stream } from '../../../src/core/stream.ts';
import type { Facts } from './facts.ts';

/** A part of the period, clipped to it. Days are text and compare as such. */
export interface Bucket {
  readonly first: string;
  readonly last: string;
}

/** One row that contributes to a metric, with the parts that it belongs to. */
export interface Entry {
  readonly day: string;
  readonly parts: Partial<Readonly<Record<Dimension, string | null>>>;
  /** The numbers and labels that the metric is computed from. */
  readonly row: Readonly<Record<string, Value>>;
}

/** A metric, written a second time and as plainly as its definition in words. */
export interface Definition {
  /** The stream whose units tell which days are stored. */
  readonly stream: Stream;
  /** The dimensions beside date, week and month. */
  readonly dimensions: readonly Dimension[];
  /** True if a question may be limited to a team. */
  readonly byTeam: boolean;
  /** True if a question may be limited to a user. */
  readonly byUser: boolean;
  /** True if a question must be about single days. */
  readonly singleDays: boolean;
  /** The rows that contribute to a bucket. */
  entries(facts: Facts, bucket: Bucket): readonly Entry[];
  /** The value of some of these rows; of none, if nothing occurred in a bucket that is stored. */
  value(entries: readonly Entry[], facts: Facts): number | null;
}

/** The sum of a column; NULL if it is NULL in all rows, 0 if there is no row. */
export function sumOf(entries: readonly Entry[], ...columns: readonly string[]): number | null {
  if (entries.length === 0) return 0;
  const sums = columns.map((column) => {
    const numbers = entries.flatMap(({ row }) => numberOf(row[column]) ?? []);
    return numbers.length === 0 ? null : numbers.reduce((sum, value) => sum + value, 0);
  });
  return sums.reduce<number | null>((total, sum) => (total === null || sum === null ? null : total + sum), 0);
}

/** The number of different users. */
export function usersOf(entries: readonly Entry[]): number {
  return new Set(entries.map(({ row }) => row['user_id'])).size;
}

/** A quotient; NULL if there is no numerator, or if the denominator is 0 or absent. */
export function quotient(numerator: number | null, denominator: number | null): number | null {
  return numerator === null || denominator === null || denominator === 0 ? null : numerator / denominator;
}

/** A value as a number; null for anything else. */
export function numberOf(value: Value | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/** A value as text; null for anything else. */
export function textOf(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** True if a day lies in a bucket. */
export function isWithin({ first, last }: Bucket, day: string): boolean {
  return day >= first && day <= last;
}
