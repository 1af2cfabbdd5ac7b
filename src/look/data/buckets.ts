import type { Grain } from '../../../schema/metrics.ts';
import { monthEndOf, parseDay, shiftDay, type UtcDay } from '../../core/day.ts';
import type { Period } from '../../metrics/period.ts';
import { opennessOf } from '../page/numbers.ts';
import { dayName, lengthOf } from '../words/spans.ts';
import type { Basis, Result } from './result.ts';

/** The first and last day of a bucket: a day, the Monday of a week, or a month `YYYY-MM`. */
export function bucketPeriod(grain: Grain, bucket: string): Period {
  if (grain === 'month') {
    const from = parseDay(`${bucket}-01`);
    return { from, until: monthEndOf(from) };
  }
  const from = parseDay(bucket);
  return { from, until: grain === 'week' ? shiftDay(from, 6) : from };
}

/** Why the number of a bucket may still change, as a sentence; null if all of its days are there and settled. */
export function bucketOpenness(
  { basis }: Pick<Result, 'basis'>,
  grain: Grain,
  bucket: string,
): string | null {
  const whole = bucketPeriod(grain, bucket);
  const days = clip(whole, basis);
  const within = (day: UtcDay) => day >= days.from && day <= days.until;
  const open = opennessOf(
    lengthOf(days),
    basis.days.unsettled.filter(within).length,
    basis.days.missing.filter(within).length,
  );
  if (whole.until <= basis.until) return open ?? null;
  const running = `the days after ${dayName(basis.until)} are not in it`;
  return open === undefined ? running : `${running}; ${open}`;
}

/** The buckets of an answer, in its order. Each occurs once, whatever the groups. */
export function bucketsOf({ rows }: Pick<Result, 'rows'>, grain: Grain): readonly string[] {
  return [...new Set(rows.map((row) => String(row[grain])))];
}

function clip({ from, until }: Period, basis: Basis): Period {
  return {
    from: from < basis.from ? basis.from : from,
    until: until > basis.until ? basis.until : until,
  };
}
