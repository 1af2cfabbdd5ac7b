import { queryText } from '../../../../schema/query.ts';
import { tables } from '../../../../schema/tables.ts';
import { FIRST_DAY } from '../../../core/day.ts';
import { loadedUnit, storedUnit } from '../../../metrics/period.ts';
import { MODELS, refTo } from '../package/names.ts';
import { staged } from '../staging/staging.ts';

/** Conditions on the ledger `x`, as `daywalk metric` has them. */
const STORED = queryText(storedUnit('x'));
const LOADED = queryText(loadedUnit('x'));

/**
 * How many people each team has on each day, also 0. Without these zeros, the last day of a team that has dissolved would be
 * the last day of every later period of a question about that team.
 */
export const licensedDaysSql = `with days as (
  select n.org_id, s.date_day as date
  from (
    select org_id, max(date) as newest_day
    from ${staged(tables.exportUnits)} as x
    where stream = 'users' and ${LOADED}
    group by org_id
  ) as n
  join ${refTo(MODELS.timeSpine)} as s on s.date_day <= n.newest_day
),
teams as (
  select distinct org_id, team from ${staged(tables.people)}
)
select d.org_id, d.date, t.team, count(p.person) as licensed_users
from days as d
join teams as t on t.org_id = d.org_id
left join ${staged(tables.people)} as p
  on p.org_id = d.org_id and p.team is not distinct from t.team
  and d.date >= p.valid_from and (p.valid_to is null or d.date <= p.valid_to)
group by d.org_id, d.date, t.team
`;

/** The score of the latest report of each repository at the end of each day, from its first report on. */
export const readinessDaysSql = `with walks as (
  select org_id, max(cast(
    case when state in ('failed', 'pending') then coalesce(changed_at, first_loaded_at) else last_pulled_at end as date
  )) as newest_day
  from ${staged(tables.exportUnits)} as x
  where stream = 'readiness' and ${STORED}
  group by org_id
),
scores as (
  select org_id, report_id, avg(numerator / nullif(denominator, 0)) as score
  from ${staged(tables.readinessReportCriteria)}
  group by org_id, report_id
),
reports as (
  select org_id, report_id, repo_url, cast(created_at as date) as created_on,
    lead(cast(created_at as date)) over (partition by org_id, repo_url order by created_at, report_id) as replaced_on
  from ${staged(tables.readinessReports)}
)
select w.org_id, s.date_day as date, r.repo_url as repository, r.report_id, c.score as readiness_score
from walks as w
join ${refTo(MODELS.timeSpine)} as s on s.date_day <= w.newest_day
join reports as r
  on r.org_id = w.org_id and r.created_on <= s.date_day and (r.replaced_on is null or r.replaced_on > s.date_day)
left join scores as c on c.org_id = r.org_id and c.report_id = r.report_id
`;

/** Every day from the first one of the service to two years ahead. */
export const timeSpineSql = `select cast(day as date) as date_day
from generate_series(
  timestamp '${FIRST_DAY} 00:00:00', cast(current_date as timestamp) + interval '730 days', interval '1 day'
) as days (day)
`;
