import type { Metric, Term } from '../../../schema/metrics.ts';
import { sql } from '../../../schema/query.ts';
import { type Facts, grouped } from './facts.ts';
import { inactivePeople, licensedPeople } from './people-facts.ts';
import type { Plan } from './plan.ts';
import { readinessFacts } from './readiness-facts.ts';
import { rollupRows } from './rollup-rows.ts';
import { dailyRows, firstRows, type Rows } from './rows.ts';
import { ratioSql, termSql } from './terms.ts';

/** The terms that a metric adds up. */
export function termsOf({ measure }: Metric): readonly Term[] {
  if (measure.kind === 'term') return [measure.term];
  return measure.kind === 'ratio' ? [measure.numerator, measure.denominator] : [];
}

/** The facts of a plan, see {@link Facts}. */
export function factsOf(plan: Plan): Facts {
  const { measure } = plan.metric;
  switch (measure.kind) {
    case 'term': {
      const rows = rowsOf(plan);
      return grouped(plan, rows, termSql(measure.term, rows.kind), 'zero');
    }
    case 'ratio': {
      const rows = rowsOf(plan);
      return grouped(plan, rows, ratioSql(measure.numerator, measure.denominator, rows.kind), 'null');
    }
    case 'snapshot':
      return grouped(plan, dailyRows(plan, []), sql.raw(`MAX(r.${measure.column})`), 'null');
    case 'new users':
      return grouped(plan, firstRows(plan), sql`COUNT(*)`, 'zero');
    case 'licensed users':
      return licensedPeople(plan);
    case 'inactive users':
      return inactivePeople(plan);
    case 'readiness score':
      return readinessFacts(plan);
  }
}

function rowsOf(plan: Plan): Rows {
  const terms = termsOf(plan.metric);
  return rollupRows(plan, terms) ?? dailyRows(plan, terms);
}
