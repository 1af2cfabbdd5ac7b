import {
  allMetrics,
  DIMENSIONS,
  type Dimension,
  dimensionsOf,
  GRAINS,
  type Grain,
  isGrain,
  type Metric,
} from '../../schema/metrics.ts';
import { UsageError } from '../core/errors.ts';
import { nearestName } from '../core/nearest.ts';
import type { Period } from './period.ts';
import type { MetricQuestion } from './question.ts';

/**
 * Parses the name of a dimension.
 * @throws {UsageError} for a name that is no dimension.
 */
export function parseDimension(name: string): Dimension {
  const found = DIMENSIONS.find((dimension) => dimension === name);
  if (found !== undefined) return found;
  const nearest = nearestName(name, DIMENSIONS);
  throw new UsageError(`"${name}" is not a dimension`, {
    hint: nearest === undefined ? `choose from ${DIMENSIONS.join(', ')}` : `did you mean ${nearest}?`,
  });
}

/**
 * Checks that a metric has the dimensions and filters of a question. Returns the dimension that cuts the period.
 * @throws {UsageError} if it does not.
 */
export function checkDimensions(metric: Metric, question: MetricQuestion): Grain | undefined {
  const { by } = question;
  const repeated = by.find((dimension, index) => by.indexOf(dimension) !== index);
  if (repeated !== undefined) {
    throw new UsageError(`the dimension ${repeated} is given twice`, { hint: 'name each dimension once' });
  }
  const grains = by.filter(isGrain);
  if (grains.length > 1) {
    throw new UsageError(`${metric.name} cannot be cut by ${grains.join(' and ')} at once`, {
      hint: `choose one of ${GRAINS.join(', ')}`,
    });
  }
  const own = dimensionsOf(metric);
  const foreign = by.find((dimension) => !own.includes(dimension));
  if (foreign !== undefined) {
    throw new UsageError(`${metric.name} has no dimension ${foreign}`, { hint: hintFor(metric, foreign) });
  }
  checkFilter(metric, 'team', question.team !== undefined);
  checkFilter(metric, 'user', question.user !== undefined);
  return grains[0];
}

/**
 * Checks that a metric may be computed over a period cut by `grain`.
 * @throws {UsageError} if it is published for single days and would have to be added.
 */
export function checkAdditivity(
  { name, measure }: Metric,
  { by }: MetricQuestion,
  { grain, period }: { readonly grain: Grain | undefined; readonly period: Period },
): void {
  if (measure.kind !== 'snapshot') return;
  const { instead, needs } = measure;
  if (grain !== 'date' && period.from !== period.until) {
    const over = { week: 'weeks', month: 'months', date: 'days', none: 'days' }[grain ?? 'none'];
    throw new UsageError(`${name} cannot be added over ${over}`, {
      hint: `${instead} can, or ask for it day by day`,
      reason: 'metric-not-additive',
      facts: { instead, grain: grain ?? '' },
    });
  }
  if (needs !== undefined && !by.includes(needs)) {
    throw new UsageError(`${name} cannot be added over values of ${needs}`, {
      hint: `ask for it by ${needs}`,
      reason: 'metric-needs-dimension',
      facts: { dimension: needs },
    });
  }
}

function checkFilter(metric: Metric, filter: 'team' | 'user', isGiven: boolean): void {
  if (!isGiven || dimensionsOf(metric).includes(filter)) return;
  throw new UsageError(`${metric.name} cannot be filtered by ${filter}`, { hint: hintFor(metric, filter) });
}

/** More names than this do not help. */
const NAMES_MAX = 5;

function hintFor(metric: Metric, dimension: Dimension): string {
  const others = allMetrics.filter((other) => dimensionsOf(other).includes(dimension));
  const names = others.slice(0, NAMES_MAX).map(({ name }) => name);
  const more = others.length > NAMES_MAX ? ' and others' : '';
  return `it has ${dimensionsOf(metric).join(', ')}; ${dimension} is a dimension of ${names.join(', ')}${more}`;
}
