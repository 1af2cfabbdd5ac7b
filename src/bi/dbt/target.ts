import {
  type AnyTable,
  type Column,
  type ColumnKind,
  type Columns,
  KINDS,
  type View,
} from '../../../schema/define.ts';
import { type Invariant, invariantsOf } from '../../../schema/invariants.ts';
import { publishedTables, tables } from '../../../schema/tables.ts';
import { allViews } from '../../../schema/views.ts';
import { STREAMS } from '../../core/stream.ts';
import { UNIT_STATES } from '../../units/index.ts';
import { columnNote, columnUnits } from '../dictionary.ts';
import type { BiFile, BiTarget } from '../write-folder.ts';
import { type Yaml, yamlText } from '../yaml.ts';
import { martFiles, PACKAGE, stagingFiles } from './models.ts';
import { LEFT_OUT, metricFile, semanticModelFile } from './semantic.ts';

/** A package for dbt with the metrics of the dictionary for MetricFlow, over PostgreSQL or over a lake in DuckDB. */
export const dbtTarget: BiTarget = {
  files: () => [
    ...projectFiles,
    ...macroFiles,
    readmeFile(),
    sourceFile(),
    ...stagingFiles(),
    ...martFiles(),
    semanticModelFile(),
    metricFile(),
  ],
  nextSteps: (directory) => [
    "pip install 'dbt-core==1.11.16' 'dbt-postgres==1.11.0' 'dbt-duckdb==1.11.1' 'dbt-metricflow==0.15.0'",
    `cd ${directory} && PGDATABASE=daywalk dbt build`,
    'mf query --metrics cost_per_active_user --group-by metric_time__month',
  ],
};

const env = (name: string, otherwise: string) => `{{ env_var('${name}', '${otherwise}') }}`;

const project: Yaml = {
  name: PACKAGE,
  'config-version': 2,
  profile: PACKAGE,
  'require-dbt-version': ['>=1.10.5', '<2.0.0'],
  flags: { send_anonymous_usage_stats: false },
  // The values of vars are plain: dbt does not render them.
  vars: { daywalk_schema: 'public', daywalk_lake: '', daywalk_organization: '' },
  models: {
    [PACKAGE]: { staging: { '+materialized': 'view' }, marts: { '+materialized': 'table' } },
  },
};

const profile: Yaml = {
  [PACKAGE]: {
    target: env('DAYWALK_DBT_TARGET', 'postgres'),
    outputs: {
      postgres: {
        type: 'postgres',
        host: env('PGHOST', '127.0.0.1'),
        port: `{{ env_var('PGPORT', '5432') | as_number }}`,
        user: env('PGUSER', 'postgres'),
        password: env('PGPASSWORD', ''),
        dbname: env('PGDATABASE', 'daywalk'),
        schema: env('DAYWALK_DBT_SCHEMA', 'daywalk_dbt'),
        threads: 4,
      },
      lake: {
        type: 'duckdb',
        path: env('DAYWALK_DBT_FILE', 'daywalk_dbt.duckdb'),
        schema: env('DAYWALK_DBT_SCHEMA', 'daywalk_dbt'),
        threads: 4,
      },
    },
  },
};

/** The files that make the folder a package, and a profile whose values come from the environment. */
const projectFiles: readonly BiFile[] = [
  { path: 'dbt_project.yml', text: yamlText(project) },
  { path: 'profiles.yml', text: yamlText(profile) },
];

const conversions = `{# The rows of one organization, if the variable names one. #}
{% macro daywalk_of_organization() %}
{%- if var('daywalk_organization') -%}
where org_id = '{{ var('daywalk_organization') | replace("'", "''") }}'
{%- endif -%}
{% endmacro %}

{# An instant as a timestamp in UTC, whatever the time zone of the session. #}
{% macro daywalk_utc(column) %}
{%- if target.type == 'postgres' -%}
({{ column }} at time zone 'UTC')
{%- else -%}
cast({{ column }} as timestamp)
{%- endif -%}
{% endmacro %}

{# The day of a unit of the ledger. Readiness has none: '' in PostgreSQL, NULL in a lake. #}
{% macro daywalk_unit_day(column) %}
{%- if target.type == 'postgres' -%}
cast(nullif({{ column }}, '') as date)
{%- else -%}
{{ column }}
{%- endif -%}
{% endmacro %}
`;

const genericTests = `{# No two rows have the same values in some columns. #}
{% test daywalk_unique_key(model, columns) %}
select {{ columns | join(', ') }}, count(*) as found
from {{ model }}
group by {{ columns | join(', ') }}
having count(*) > 1
{% endtest %}

{# Every row has a row in another model with the same values in some columns. #}
{% test daywalk_belongs_to(model, columns, to, condition=none) %}
select {% for column in columns %}child.{{ column }}{{ ', ' if not loop.last }}{% endfor %}
from {{ model }} as child
left join (
  select distinct {{ columns | join(', ') }}, 1 as is_found
  from {{ to }}
  {% if condition is not none %}where {{ condition }}{% endif %}
) as parent
  on {% for column in columns %}parent.{{ column }} = child.{{ column }}{{ ' and ' if not loop.last }}{% endfor %}
where parent.is_found is null
{% endtest %}

{# The values of columns are on one side of a number, of another column, or of a column of the row with the same key. #}
{% test daywalk_holds(model, names, operator, bound, to=none, columns=none) %}
select {% for name in names %}own.{{ name }}{{ ', ' if not loop.last }}{% endfor %}
from {{ model }} as own
{% if to is not none %}
join {{ to }} as parent
  on {% for name in columns %}parent.{{ name }} = own.{{ name }}{{ ' and ' if not loop.last }}{% endfor %}
{% endif %}
where {% for name in names %}not (own.{{ name }} {{ operator }} {% if bound is number %}{{ bound }}{% else %}{{ 'own' if to is none else 'parent' }}.{{ bound }}{% endif %}){{ ' or ' if not loop.last }}{% endfor %}
{% endtest %}
`;

/** What models and tests of the package share. */
const macroFiles: readonly BiFile[] = [
  { path: 'macros/conversions.sql', text: conversions },
  { path: 'macros/generic_tests.sql', text: genericTests },
];

/** What the folder is, and which metrics it does not have. */
function readmeFile(): BiFile {
  const missing = Object.entries(LEFT_OUT).map(([name, reason]) => `- \`${name}\`: ${reason}`);
  const text = `# Daywalk for dbt

Written by \`daywalk bi dbt\`. Run the command again to update the files; do not edit them.

- \`dbt build\` reads PostgreSQL, as the variables PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE say. \`--vars '{daywalk_schema: NAME}'\`
  names another schema than \`public\`.
- \`DAYWALK_DBT_TARGET=lake dbt build --vars '{daywalk_lake: /srv/lake}'\` reads the Parquet files that \`daywalk publish\` has written to /srv/lake.
- \`--vars '{daywalk_organization: ID}'\` reads one organization only.
- Views such as \`source('daywalk', 'budget_outlook')\` exist in PostgreSQL only.
- \`mf query --metrics cost --group-by metric_time__month\` asks for a metric.

## Metrics that are left out

${missing.join('\n')}

\`daywalk metric\` has them.

## Days whose people have expired

With \`DAYWALK_RETAIN_USERS\`, metrics of users have no rows for older days, and no row of a group says that others are gone. A week, month or year of
which some days have expired, and a question that begins before the first day that is kept, show a partial sum, where \`daywalk metric\` is NULL
and says why. Ask from the first day that is kept:
\`select org_id, max(date) + 1 from stg_daywalk__export_units where stream = 'users' and state = 'expired' group by org_id\`.
\`new_users\` is NULL from then on, because whoever was active before would pass for new. \`published_\` metrics are whole.
`;
  return { path: 'README.md', text };
}

/** Where a table is in a lake. Only readers of files look at it. */
const inLake = (table: string) =>
  `read_parquet('{{ var('daywalk_lake') }}/${table}/**/*.parquet', hive_partitioning = true, hive_types_autocast = false)`;

/** The tables of the warehouse with their tests and freshness. */
function sourceFile(): BiFile {
  const document: Yaml = {
    version: 2,
    sources: [
      {
        name: PACKAGE,
        description: 'The warehouse of Daywalk, in PostgreSQL or as a lake of Parquet files.',
        schema: "{{ var('daywalk_schema') }}",
        tables: [...publishedTables.map(sourceTable), ...allViews.map(sourceView)],
      },
    ],
  };
  return { path: 'models/sources.yml', text: yamlText(document) };
}

function sourceTable(table: AnyTable): Yaml {
  const units = columnUnits();
  return {
    name: table.name,
    description: table.doc,
    config: { ...FRESHNESS[table.name], meta: { external_location: inLake(table.name) } },
    data_tests: [{ daywalk_unique_key: { arguments: { columns: table.key } } }, ...invariantTests(table)],
    columns: Object.entries(table.columns).map(([name, column]) => ({
      name,
      description: columnNote(column, units.get(`${table.name}.${name}`)),
      ...testsOf(table, name, column),
    })),
  };
}

/** A view of the warehouse in PostgreSQL; a lake has none. */
function sourceView({ name, doc, columns }: View): Yaml {
  return {
    name,
    description: doc,
    columns: Object.entries(columns).map(([column, { doc: description }]) => ({ name: column, description })),
  };
}

/** The tests of a table's invariants: one for all columns with the same bound, so that dbt has fewer to run. */
function invariantTests(table: AnyTable): Yaml[] {
  const byBound = new Map<string, Invariant[]>();
  for (const invariant of invariantsOf(table)) {
    const name = `${table.name}_${boundName(invariant)}${invariant.severity === 'unusual' ? '_usually' : ''}`;
    byBound.set(name, [...(byBound.get(name) ?? []), invariant]);
  }
  return [...byBound].flatMap(([name, invariants]) => invariantTest(name, invariants));
}

/** A short name: PostgreSQL cuts long ones. */
function boundName({ column, relation, bound }: Invariant): string {
  const limit = typeof bound === 'number' ? bound : bound.column;
  const words = `${relation === '≥' ? 'at_least' : 'at_most'}_${limit}`;
  return typeof bound === 'number' ? words : `${column}_${words}`;
}

/** A test for invariants with the same bound. A value outside the usual range is news, not a mistake. */
function invariantTest(name: string, invariants: readonly Invariant[]): Yaml[] {
  const [first] = invariants;
  if (first === undefined) return [];
  const { table, relation, bound, severity } = first;
  const parent = typeof bound !== 'number' && bound.table !== table ? bound.table : undefined;
  const isWarning = severity === 'unusual';
  return [
    {
      daywalk_holds: {
        name,
        arguments: {
          names: invariants.map(({ column }) => column),
          operator: relation === '≥' ? '>=' : '<=',
          bound: typeof bound === 'number' ? bound : bound.column,
          ...(parent && { to: `source('${PACKAGE}', '${parent.name}')`, columns: parent.key }),
        },
        ...(isWarning && { config: { severity: 'warn' } }),
      },
    },
  ];
}

function testsOf(table: AnyTable, name: string, column: Column): { data_tests?: Yaml } {
  const accepted = ACCEPTED_VALUES[`${table.name}.${name}`];
  const tests: Yaml[] = [
    ...(isNeverNull(table, name, column.kind) ? ['not_null'] : []),
    ...(accepted === undefined
      ? []
      : [
          {
            accepted_values: {
              arguments: { values: accepted.values },
              ...(accepted.isOpen && { config: { severity: 'warn' } }),
            },
          },
        ]),
  ];
  return tests.length === 0 ? {} : { data_tests: tests };
}

/** Roles of tables whose organization, or whose day, may be '' in the warehouse, which is NULL in a lake. */
const MAY_LACK_ORGANIZATION = ['event', 'ledger'];

/** The numbers of this program are left to the constraints of the warehouse. */
const TESTED: ReadonlySet<ColumnKind> = new Set(['key', 'day', 'text', 'instant', 'amount']);

function isNeverNull({ role }: AnyTable, name: keyof Columns, kind: ColumnKind): boolean {
  if (KINDS[kind].isNullable || !TESTED.has(kind)) return false;
  if (name === 'org_id') return !MAY_LACK_ORGANIZATION.includes(role);
  return !(role === 'ledger' && name === 'date');
}

/** The values that a column may have. */
interface AcceptedValues {
  readonly values: readonly string[];
  /** True for names that the service chooses: a new one is news, not a mistake. */
  readonly isOpen: boolean;
}

const ofService = (...values: readonly string[]): AcceptedValues => ({ values, isOpen: true });
const ours = (values: readonly string[]): AcceptedValues => ({ values, isOpen: false });

const tier = ofService('standard', 'thinking');

/** The accepted values of columns by `table.column`. NULL is always accepted here. */
const ACCEPTED_VALUES: Readonly<Record<string, AcceptedValues>> = {
  'tokens_daily_by_model.model_tier': tier,
  'tokens_daily_by_user_model.model_tier': tier,
  'user_daily.primary_model_tier': tier,
  'user_daily.delegation_level': ofService('auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'),
  'activity_daily_by_client.client': ofService('terminal-ui', 'web', 'non-interactive-cli'),
  'readiness_reports.model_reasoning_effort': ofService('low', 'medium', 'high', 'off'),
  'sessions.status': ofService('idle', 'pending', 'running'),
  'export_units.stream': ours(STREAMS),
  'export_units.state': ours(UNIT_STATES),
  'export_units.confirmed': ours(['data', 'agreed', 'age']),
  'restatements.stream': ours(STREAMS),
  'schema_drift.stream': ours(STREAMS),
  'schema_drift.kind': ours(['unknown field', 'wrong type', 'new value']),
};

const hours = (count: number) => ({ count, period: 'hour' });

/** A nightly run pulls every unit that has not settled, so a ledger that no run has touched for a night and a half is late. */
const afterRun = { warn_after: hours(36), error_after: hours(72) };

/** At a nightly run the newest day has begun 27 hours ago, and before the next one 51 hours ago. */
const ofNewestDay = { warn_after: hours(60), error_after: hours(96) };

/**
 * What shows how current a table is. The tables without an entry are not judged: they are stored in the same transactions as
 * those of their stream, or can have no rows for long.
 */
const FRESHNESS: Readonly<Record<string, Readonly<Record<string, Yaml>>>> = {
  [tables.exportUnits.name]: { freshness: afterRun, loaded_at_field: 'last_pulled_at' },
  [tables.exportRuns.name]: { freshness: afterRun, loaded_at_field: 'started_at' },
  ...Object.fromEntries(
    [tables.tokensDaily, tables.toolsDaily, tables.activityDaily, tables.productivityDaily].map(
      ({ name }) => [name, { freshness: ofNewestDay, loaded_at_field: 'cast(date as timestamp)' }],
    ),
  ),
};
