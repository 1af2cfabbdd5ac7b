import type { Grain } from '../../../schema/metrics.ts';
import { FIRST_DAY, shiftDay } from '../../core/day.ts';
import type { Period } from '../../metrics/period.ts';
import { dayName, lengthOf, periodWords } from '../words/spans.ts';

/** What the buckets of a figure are: `13 complete weeks, 17 August to 15 November`, `3 months, 1 September to 19 November`. */
export function bucketWords(grain: Grain, period: Period, buckets: number): string {
  const count = grain === 'date' ? lengthOf(period) : buckets;
  const kind = { date: 'day', week: 'complete week', month: 'month' }[grain];
  return `${count} ${kind}${count === 1 ? '' : 's'}, ${periodWords(period)}`;
}

/** The heading of the first column of a table with a row per bucket. */
export const BUCKET_TITLES: Readonly<Record<Grain, string>> = {
  date: 'Day',
  week: 'Week from',
  month: 'Month',
};

/** Complete weeks that a figure shows, whatever the period is: a quarter. */
export const WEEKS = 13;

/** The service began on a Wednesday; the Sunday after the next one ends its first complete week. */
const FIRST_SUNDAY = shiftDay(FIRST_DAY, 11);

/** What a figure of complete weeks says while there is none. */
export const NO_WEEK: string = `The first complete week, from Monday to Sunday, ends on ${dayName(FIRST_SUNDAY)} ${FIRST_SUNDAY.slice(0, 4)}.`;
