import type { Metric } from '../../../schema/metrics.ts';
import { GRAINS, type Grain } from '../../../schema/metrics.ts';
import { daysFrom, monthEndOf, monthOf, shiftDay, type UtcDay, weekdayOf } from '../../core/day.ts';
import type { Period } from '../../metrics/period.ts';
import type { MetricQuestion } from '../../metrics/question.ts';
import { findMetric } from '../../metrics/question.ts';
import type { Limits } from './audience.ts';

type Question = MetricQuestion & Period;

/**
 * Why readers other than managers must not see the answer to a question, as a sentence; null if they may, once small
 * groups are merged.
 */
export function reasonToWithhold(question: Question, { weeks }: Pick<Limits, 'weeks'>): string | null {
  const { by, user, team } = question;
  const metric = findMetric(question.metric);
  if (by.includes('user') || user !== undefined) return 'Numbers of single people are for managers.';
  if (by.includes('client')) {
    return 'The service does not publish who used which client, so small groups cannot be merged.';
  }
  if (team !== undefined && by.some((dimension) => PARTS_OF_TEAMS.includes(dimension))) {
    return 'Parts of a team are left out: together with the numbers of the organization they would show small groups.';
  }
  if (metric.measure.kind === 'new users') {
    return 'How many people were new is for managers, because they are few in most weeks.';
  }
  if (metric.measure.kind === 'inactive users' && team !== undefined) {
    return 'How many people of one team were inactive is for managers, because they are few in most weeks.';
  }
  if (!isAboutSums(metric)) return null;
  const grain = grainOf(question);
  if (grain === 'date' || metric.measure.kind === 'snapshot') {
    return 'Single days are for managers, because few people can be active on one.';
  }
  return grain === null || weeks
    ? null
    : 'In some weeks too few people were active to show weeks one by one.';
}

const PARTS_OF_TEAMS: readonly string[] = ['language', 'delegation_level'];

/** The spans of days that the values of an answer are about; none for numbers that are no sum over people's activity. */
export function spansOf(question: Question): Period[] {
  const { from, until } = question;
  if (!isAboutSums(findMetric(question.metric))) return [];
  const grain = grainOf(question);
  if (grain === null) return [{ from, until }];
  const starts = [...new Set(daysFrom(from, until).map((day) => FIRST_DAY_OF[grain](day)))];
  return starts.map((start) => clip({ from: start, until: LAST_DAY_OF[grain](start) }, { from, until }));
}

/** False for the state of reports, for lists of people, and for counts of people of one day as published. */
function isAboutSums({ measure, source, unit }: Metric): boolean {
  if (source.stream === 'readiness') return false;
  if (measure.kind === 'licensed users' || measure.kind === 'inactive users') return false;
  return measure.kind !== 'snapshot' || unit !== 'users';
}

function grainOf({ by }: Question): Grain | null {
  return GRAINS.find((grain) => by.includes(grain)) ?? null;
}

function clip(span: Period, { from, until }: Period): Period {
  return { from: span.from < from ? from : span.from, until: span.until > until ? until : span.until };
}

const mondayOf = (day: UtcDay) => shiftDay(day, 1 - weekdayOf(day));

const FIRST_DAY_OF: Readonly<Record<Grain, (day: UtcDay) => UtcDay>> = {
  date: (day) => day,
  week: mondayOf,
  month: monthOf,
};

const LAST_DAY_OF: Readonly<Record<Grain, (first: UtcDay) => UtcDay>> = {
  date: (day) => day,
  week: (monday) => shiftDay(monday, 6),
  month: monthEndOf,
};
