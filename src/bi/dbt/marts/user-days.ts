import { allMetrics } from '../../../../schema/metrics.ts';
import { tables } from '../../../../schema/tables.ts';
import { staged } from '../staging/staging.ts';

const team = `left join ${staged(tables.userTeams)} as t
  on t.org_id = r.org_id and t.user_id = r.user_id and r.date between t.valid_from and t.valid_to`;

/** The rows of users with their team and the price of the day. */
export const userDaysSql = `select
  r.*,
  t.team,
  t.department,
  t.cost_center,
  p.currency,
  p.price_per_million,
  r.billable_tokens * coalesce(p.price_per_million, 0) / 1000000 as cost_of_priced_days,
  case when r.billable_tokens <> 0 and p.price_per_million is null then 1 else 0 end as unpriced_user_days,
  case when r.billable_tokens <> 0 then p.currency end as paid_currency,
  ${conditionalColumns().join(',\n  ')},
  case when r.date = min(r.date) over (partition by r.org_id, r.user_id) then 1 else 0 end as new_users
from ${staged(tables.userDaily)} as r
${team}
left join ${staged(tables.prices)} as p
  on p.org_id = r.org_id and r.date >= p.valid_from and (p.valid_to is null or r.date <= p.valid_to)
`;

/** The languages of users with their team on the day. */
export const userLanguageDaysSql = `select
  r.*,
  t.team,
  t.department,
  t.cost_center
from ${staged(tables.userDailyLanguages)} as r
${team}
`;

/** The columns of metrics that count only rows with a certain value. */
function conditionalColumns(): readonly string[] {
  return allMetrics.flatMap(({ measure }) =>
    (measure.kind === 'ratio' ? [measure.numerator, measure.denominator] : []).flatMap((term) => {
      if (term.kind !== 'sum' || term.where === undefined) return [];
      const { column, equals, rollupColumn } = term.where;
      return [`case when r.${column} = '${equals}' then r.${term.columns[0]} else 0 end as ${rollupColumn}`];
    }),
  );
}
