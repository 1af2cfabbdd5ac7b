import type { AnyTable, ColumnKind } from '../../../schema/define.ts';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { queryText } from '../../../schema/query.ts';
import { publishedTables, tables } from '../../../schema/tables.ts';
import { FIRST_DAY } from '../../core/day.ts';
import { loadedUnit } from '../../metrics/index.ts';
import { storedUnit } from '../../units/index.ts';
import type { BiFile } from '../write-folder.ts';
import { type Yaml, yamlText } from '../yaml.ts';

/** A view for each table, with the same types in PostgreSQL and in a lake, and a file with their tests. */
export function stagingFiles(): readonly BiFile[] {
  const models = publishedTables.map((table) => ({
    path: `models/staging/${stagingName(table)}.sql`,
    text: stagingSql(table),
  }));
  const document: Yaml = {
    version: 2,
    models: publishedTables.map((table) => ({
      name: stagingName(table),
      description: `${table.doc} Instants are in UTC, without a time zone.`,
      ...relationTests(table),
    })),
  };
  return [...models, { path: 'models/staging/staging.yml', text: yamlText(document) }];
}

function stagingSql(table: AnyTable): string {
  const columns = Object.entries(table.columns).map(([name, { kind }]) => columnSql(table, name, kind));
  const filter = table.columns['org_id'] === undefined ? '' : '{{ daywalk_of_organization() }}\n';
  return `select\n  ${columns.join(',\n  ')}\nfrom {{ source('${PACKAGE}', '${table.name}') }}\n${filter}`;
}

const INSTANTS: ReadonlySet<ColumnKind> = new Set(['instant', 'moment']);

function columnSql({ role }: AnyTable, name: string, kind: ColumnKind): string {
  if (INSTANTS.has(kind)) return `{{ daywalk_utc('${name}') }} as ${name}`;
  if (role === 'ledger' && name === 'date') return `{{ daywalk_unit_day('${name}') }} as ${name}`;
  return name;
}

interface Relation {
  readonly columns: readonly string[];
  readonly to: AnyTable;
  readonly condition?: string;
}

/** The rows that each row of a table belongs to. */
function relationsOf(table: AnyTable): readonly Relation[] {
  if (table === tables.userDailyLanguages) {
    return [{ columns: ['org_id', 'date', 'user_id'], to: tables.userDaily }];
  }
  if (table === tables.userTeams) return [{ columns: ['org_id', 'person'], to: tables.people }];
  if (table.role === 'fact') {
    return [{ columns: ['org_id', 'date'], to: tables.exportUnits, condition: `stream = '${table.stream}'` }];
  }
  if (table.role !== 'readiness' || table === tables.readinessReports) return [];
  return [{ columns: ['org_id', 'report_id'], to: tables.readinessReports }];
}

function relationTests(table: AnyTable): { data_tests?: Yaml } {
  const tests = relationsOf(table).map(({ columns, to, condition }) => ({
    daywalk_belongs_to: {
      // A short name: PostgreSQL cuts long ones.
      name: `${table.name}_belongs_to_${to.name}`,
      arguments: { columns, to: `ref('${stagingName(to)}')`, condition },
    },
  }));
  return tests.length === 0 ? {} : { data_tests: tests };
}

/** A reference to the view of a table, in SQL. */
function staged(table: AnyTable): string {
  return refTo(stagingName(table));
}

/** The name of the package, of its source and of its profile. */
export const PACKAGE = 'daywalk';

/** The models that are more than the rows of a table. */
export const MODELS = {
  userDays: 'daywalk_user_days',
  userLanguageDays: 'daywalk_user_language_days',
  licensedDays: 'daywalk_licensed_days',
  readinessDays: 'daywalk_readiness_days',
  timeSpine: 'daywalk_time_spine',
} as const;

/** The name of the model with the rows of a table. */
export function stagingName({ name }: Pick<AnyTable, 'name'>): string {
  return `stg_daywalk__${name}`;
}

/** A reference to a model, in the SQL of another one. */
function refTo(model: string): string {
  return `{{ ref('${model}') }}`;
}

const team = `left join ${staged(tables.userTeams)} as t
  on t.org_id = r.org_id and t.user_id = r.user_id and r.date between t.valid_from and t.valid_to`;

/** The rows of users with their team and the price of the day. Whoever was active on days that have expired would pass for new. */
const userDaysSql = `select
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
  case when x.org_id is null then
    case when r.date = min(r.date) over (partition by r.org_id, r.user_id) then 1 else 0 end end as new_users
from ${staged(tables.userDaily)} as r
${team}
left join (select distinct org_id from ${staged(tables.exportUnits)} where stream = 'users' and state = 'expired') as x
  on x.org_id = r.org_id
left join ${staged(tables.prices)} as p
  on p.org_id = r.org_id and r.date >= p.valid_from and (p.valid_to is null or r.date <= p.valid_to)
`;

/** The languages of users with their team on the day. */
const userLanguageDaysSql = `select
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
const licensedDaysSql = `with days as (
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
const readinessDaysSql = `with walks as (
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
const timeSpineSql = `select cast(day as date) as date_day
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
