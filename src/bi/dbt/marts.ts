import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { queryText } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { FIRST_DAY } from '../../core/day.ts';
import { loadedUnit, storedUnit } from '../../metrics/period.ts';
import type { BiFile } from '../write-folder.ts';
import { type Yaml, yamlText } from '../yaml.ts';
import { MODELS, refTo, staged } from './staging.ts';

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

interface Mart {
  readonly name: string;
  readonly description: string;
  readonly sql: string;
  readonly key: readonly string[];
  readonly more?: Readonly<Record<string, Yaml>>;
}

const marts: readonly Mart[] = [
  {
    name: MODELS.userDays,
    description: 'Activity of each user with the team and the price of the day: one row per user and day.',
    sql: userDaysSql,
    key: ['org_id', 'date', 'user_id'],
  },
  {
    name: MODELS.userLanguageDays,
    description: 'Languages in which each user worked, with the team of the day.',
    sql: userLanguageDaysSql,
    key: ['org_id', 'date', 'user_id', 'language'],
  },
  {
    name: MODELS.licensedDays,
    description: 'Number of licensed people of each team at the end of each day, also 0.',
    sql: licensedDaysSql,
    key: ['org_id', 'date', 'team'],
  },
  {
    name: MODELS.readinessDays,
    description: 'Score of the latest report of each repository at the end of each day.',
    sql: readinessDaysSql,
    key: ['org_id', 'date', 'repository'],
  },
  {
    name: MODELS.timeSpine,
    description: 'The days, for MetricFlow.',
    sql: timeSpineSql,
    key: ['date_day'],
    more: {
      time_spine: { standard_granularity_column: 'date_day' },
      columns: [{ name: 'date_day', granularity: 'day', data_tests: ['not_null'] }],
    },
  },
];

/** The tables that metrics are computed from where the rows of the warehouse alone do not do. */
export function martFiles(): readonly BiFile[] {
  const document: Yaml = {
    version: 2,
    models: marts.map(({ name, description, key, more }) => ({
      name,
      description,
      data_tests: [{ daywalk_unique_key: { arguments: { columns: key } } }],
      ...more,
    })),
  };
  return [
    ...marts.map(({ name, sql }) => ({ path: `models/marts/${name}.sql`, text: sql })),
    { path: 'models/marts/marts.yml', text: yamlText(document) },
  ];
}
