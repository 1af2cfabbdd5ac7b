import type { Measure, Metric, Term } from '../../../schema/metrics.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import { type Facts, grouped, type Nothing } from './facts.ts';
import { inactivePeople, licensedPeople } from './people-facts.ts';
import { type Plan, VALUE } from './plan.ts';
import { readinessFacts } from './readiness-facts.ts';
import { rollupRows } from './rollup-rows.ts';
import { dailyRows, firstRows } from './rows.ts';
import { type RowKind, ratioSql, termSql } from './terms.ts';

/** The terms that the metrics of a plan add up. */
export function termsOf({ computed }: Pick<Plan, 'computed'>): readonly Term[] {
  return computed.flatMap(({ metric: { measure } }) => {
    if (measure.kind === 'term') return [measure.term];
    return measure.kind === 'ratio' ? [measure.numerator, measure.denominator] : [];
  });
}

/** True if one query can compute both metrics: from the same rows, without prices. */
export function canShareQuery(a: Metric, b: Metric): boolean {
  return a.source === b.source && a.breakdown === b.breakdown && [a, b].every(addsUpRows);
}

function addsUpRows(metric: Metric): boolean {
  const terms = termsOf({ computed: [{ metric, column: VALUE }] });
  return terms.length > 0 && terms.every(({ kind }) => kind !== 'cost');
}

/** The facts of a plan, see {@link Facts}. */
export function factsOf(plan: Plan): Facts {
  const { measure } = plan.metric;
  switch (measure.kind) {
    case 'term':
    case 'ratio':
      return groupedTerms(plan);
    case 'snapshot': {
      const value = sql.raw(`MAX(r.${measure.column})`);
      return grouped(plan, dailyRows(plan, []), [{ column: VALUE, value, nothing: 'null' }]);
    }
    case 'new users':
      return grouped(plan, firstRows(plan), [{ column: VALUE, value: sql`COUNT(*)`, nothing: 'zero' }]);
    case 'licensed users':
      return licensedPeople(plan);
    case 'inactive users':
      return inactivePeople(plan);
    case 'readiness score':
      return readinessFacts(plan);
  }
}

function groupedTerms(plan: Plan): Facts {
  const terms = termsOf(plan);
  const rows = rollupRows(plan, terms) ?? dailyRows(plan, terms);
  const values = plan.computed.map(({ metric, column }) => ({
    column,
    ...formulaOf(metric.measure, rows.kind),
  }));
  return grouped(plan, rows, values);
}

function formulaOf(measure: Measure, rows: RowKind): { readonly value: SQL; readonly nothing: Nothing } {
  if (measure.kind === 'term') return { value: termSql(measure.term, rows), nothing: 'zero' };
  if (measure.kind === 'ratio') {
    return { value: ratioSql(measure.numerator, measure.denominator, rows), nothing: 'null' };
  }
  throw new TypeError(`a ${measure.kind} metric is not computed from the sums of rows`);
}
