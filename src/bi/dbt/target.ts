import type { BiFile, BiTarget } from '../write-folder.ts';
import { type Yaml, yamlText } from '../yaml.ts';
import { martFiles } from './marts.ts';
import { LEFT_OUT } from './measures.ts';
import { metricFile, semanticModelFile } from './semantic.ts';
import { sourceFile } from './sources.ts';
import { PACKAGE, stagingFiles } from './staging.ts';

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
export const projectFiles: readonly BiFile[] = [
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
`;

/** What models and tests of the package share. */
export const macroFiles: readonly BiFile[] = [
  { path: 'macros/conversions.sql', text: conversions },
  { path: 'macros/generic_tests.sql', text: genericTests },
];

/** What the folder is, and which metrics it does not have. */
export function readmeFile(): BiFile {
  const missing = Object.entries(LEFT_OUT).map(([name, reason]) => `- \`${name}\`: ${reason}`);
  const text = `# Daywalk for dbt

Written by \`daywalk bi dbt\`. Run the command again to update the files; do not edit them.

- \`dbt build\` reads PostgreSQL, as the variables PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE say. \`--vars '{daywalk_schema: NAME}'\`
  names another schema than \`public\`.
- \`DAYWALK_DBT_TARGET=lake dbt build --vars '{daywalk_lake: /srv/lake}'\` reads the Parquet files that \`daywalk publish\` has written to /srv/lake.
- \`--vars '{daywalk_organization: ID}'\` reads one organization only.
- \`mf query --metrics cost --group-by metric_time__month\` asks for a metric.

## Metrics that are left out

${missing.join('\n')}

\`daywalk metric\` has them.
`;
  return { path: 'README.md', text };
}
